import { Fragment } from 'react'
import { Link } from 'wouter'
import { listAddress } from '../deployments/task-filters.ts'
import { Icon } from '../ui/icon.tsx'
import { Cell, Row, RowHead, Table } from '../ui/table.tsx'
import { Ago } from '../ui/when.tsx'
import { type AppVersion, counted, type ImageGroup } from './group-by-image.ts'

const columns = [{ name: 'Application' }, { name: 'Version' }, { name: 'Since' }, { name: 'Deployed by' }]

/** Every image with the applications that run it, a line each. */
export function VersionsTable({ groups }: { groups: readonly ImageGroup[] }) {
  return (
    <Table label="Versions by image" className="versions" columns={columns}>
      {groups.map(({ image, versions }) => (
        <Fragment key={image}>
          <Row className="group">
            <RowHead className="full" colSpan={columns.length}>
              <code className="wrap-any">{image}</code>{' '}
              <span>in {counted(new Set(versions.map(({ app }) => app)).size, 'application')}</span>
            </RowHead>
          </Row>
          {versions.map((version) => (
            <VersionRow version={version} key={`${version.app} ${version.tag} ${version.digest}`} />
          ))}
        </Fragment>
      ))}
    </Table>
  )
}

function VersionRow({ version }: { version: AppVersion }) {
  const { app, tag, digest, since, seen_since: seen, drift, deployed_tag: deployed } = version
  return (
    <Row>
      <RowHead className="full">
        <Link className="name quiet" href={listAddress({ app })}>
          {app}
        </Link>
      </RowHead>
      <Cell className="full">
        <code className="wrap-any">{tag ?? digest}</code>
        {drift ? (
          <span className="drift s-aborted">
            <Icon name="i-aborted" />
            <span>
              drift: <code className="wrap-any">{deployed}</code> was deployed last
            </span>
          </span>
        ) : null}
      </Cell>
      <Cell className="nowrap">
        {since === undefined ? (
          <>
            <span className="dim">first seen</span> {seen === undefined ? null : <Ago at={seen} />}
          </>
        ) : (
          <Ago at={since} />
        )}
      </Cell>
      <Cell className="nowrap push">
        <DeployedBy version={version} />
      </Cell>
    </Row>
  )
}

/** A deployed task, and one of a status that only a newer service knows, are told by the drift. */
const deploymentWords = new Map<string | undefined, string>([
  ['in progress', 'Rolling out'],
  ['failed', 'Failed deployment'],
  ['aborted', 'Aborted deployment'],
  ['cancelled', 'Cancelled deployment'],
])

function DeployedBy({ version }: { version: AppVersion }) {
  const { app, tag, digest, drift, task_id: task, task_status: status } = version
  if (task === undefined) return <span className="dim">not by this service</span>
  const words = deploymentWords.get(status) ?? (drift ? 'Earlier deployment' : 'Deployment')
  return (
    <Link href={`/task/${encodeURIComponent(task)}`}>
      {words}
      <span className="sr">
        {' '}
        of {tag ?? digest} to {app}
      </span>
    </Link>
  )
}
