import { useDocumentTitle } from '@mantine/hooks'
import { type ReactNode, useState } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import type { Versions } from '../../../contract/versions.ts'
import { TextFilter } from '../deployments/text-filters.tsx'
import { AddressIssueNotice } from '../ui/address-issue-notice.tsx'
import { Answered } from '../ui/answered.tsx'
import { figure } from '../ui/figure.ts'
import { Icon } from '../ui/icon.tsx'
import { At } from '../ui/when.tsx'
import { counted, firstRows, groupByImage, type ImageGroup, versionsSentence } from './group-by-image.ts'
import { useVersions } from './read-versions.ts'
import { renderCsv } from './render-csv.ts'
import { readVersionsAddress, type VersionsFilters, versionsAddress } from './versions-address.ts'
import { VersionsTable } from './versions-table.tsx'

/** `/versions`: what runs where, since when, and is it what was deployed? */
export function VersionsPage() {
  const [query] = useSearchParams()
  const [, navigate] = useLocation()
  const { filters, issues } = readVersionsAddress(query)
  const versions = useVersions(filters)
  useDocumentTitle('Versions · Deployment Watcher')
  const change = (changed: Partial<VersionsFilters>) =>
    navigate(versionsAddress({ ...filters, ...changed }), { replace: true })
  return (
    <>
      <h1 tabIndex={-1}>Versions</h1>
      <AddressIssueNotice issues={issues} cleared={versionsAddress(filters)} />
      <search>
        <form className="filters" aria-label="Versions" onSubmit={(event) => event.preventDefault()}>
          <div className="line">
            <TextFilter
              label="Search"
              placeholder="Application, image or tag"
              className="field wide"
              value={filters.search}
              change={(search) => change({ search })}
            />
            <span className="choice">
              <label>
                <input
                  type="checkbox"
                  checked={filters.isOnlyDrift}
                  onChange={() => change({ isOnlyDrift: !filters.isOnlyDrift })}
                />
                Only drift
              </label>
            </span>
          </div>
        </form>
      </search>
      <Answered query={versions} what="the versions">
        {(data) => <Loaded versions={data} filters={filters} />}
      </Answered>
    </>
  )
}

/** So many rows at first, and with each press more. */
const rowsAtOnce = 500

function Loaded({ versions, filters }: { versions: Versions; filters: VersionsFilters }) {
  const [limit, setLimit] = useState(rowsAtOnce)
  const groups = groupByImage(versions.apps)
  const count = groups.reduce((sum, group) => sum + group.versions.length, 0)
  return (
    <div className="stack">
      <Notes versions={versions} />
      {groups.length === 0 ? (
        <Nothing filters={filters} />
      ) : (
        <>
          <div className="between mid">
            <p className="small dim" role="status">
              {versionsSentence(groups)}
            </p>
            <CsvButton groups={groups} />
          </div>
          <VersionsTable groups={firstRows(groups, limit)} />
          {count > limit ? (
            <button className="btn" type="button" onClick={() => setLimit(limit + rowsAtOnce)}>
              Show {figure(Math.min(rowsAtOnce, count - limit))} more of {figure(count)}
            </button>
          ) : null}
        </>
      )}
    </div>
  )
}

/** What the reader must know of the state: its age, and what it lacks. */
function Notes({
  versions: { stale, stale_since: since, has_more: hasMore, truncated, apps, total },
}: {
  versions: Versions
}) {
  return (
    <>
      {stale ? (
        <Note>
          Argo CD shows nothing new
          {since === undefined ? (
            ''
          ) : (
            <>
              {' '}
              since <At at={since} />
            </>
          )}
          . This is the last state.
        </Note>
      ) : null}
      {hasMore ? (
        <Note>
          {figure(apps.length)} of {counted(total, 'application')} are shown. Search to narrow them.
        </Note>
      ) : null}
      {truncated ? <Note>Argo CD has more applications than this service keeps: some are missing.</Note> : null}
    </>
  )
}

function Note({ children }: { children: ReactNode }) {
  return (
    <p className="note s-aborted" role="status">
      <Icon name="i-aborted" />
      <span>{children}</span>
    </p>
  )
}

function Nothing({ filters: { search, isOnlyDrift } }: { filters: VersionsFilters }) {
  const isFiltered = search !== '' || isOnlyDrift
  return (
    <div className="empty">
      <Icon name={isOnlyDrift ? 'i-deployed' : 'i-commit'} />
      <h2>{isOnlyDrift ? 'Nothing drifts' : isFiltered ? 'No version matches' : 'No versions yet'}</h2>
      <p>
        {isFiltered
          ? search === ''
            ? 'What runs is what was deployed last.'
            : `Searched for “${search}”.`
          : 'They appear once Argo CD shows an application. Signed out, you see only applications with deployments.'}
      </p>
      {isFiltered ? (
        <Link className="btn btn-s" href="/versions">
          Clear all filters
        </Link>
      ) : null}
    </div>
  )
}

function CsvButton({ groups }: { groups: readonly ImageGroup[] }) {
  const download = () => {
    const url = URL.createObjectURL(new Blob([renderCsv(groups, window.location.origin)], { type: 'text/csv' }))
    const link = document.createElement('a')
    link.href = url
    link.download = 'versions.csv'
    link.click()
    URL.revokeObjectURL(url)
  }
  return (
    <button className="btn btn-s" type="button" onClick={download}>
      <Icon name="i-down" />
      Download CSV
    </button>
  )
}
