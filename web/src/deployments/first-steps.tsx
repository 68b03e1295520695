import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import type { Versions } from '../../../contract/versions.ts'
import type { Permission } from '../auth/permission.ts'
import { usePermission } from '../auth/session.ts'
import { SignInLink } from '../auth/sign-in-link.tsx'
import { argoCdSentence } from '../service/argo-cd-sentence.ts'
import { useServiceStatus } from '../service/read-status.ts'
import { Choice } from '../ui/choice.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Icon } from '../ui/icon.tsx'
import { useNow } from '../ui/now.tsx'
import { readJson } from '../ui/read-json.ts'
import { type FirstApp, firstCommand, githubStep, gitlabJob } from './first-command.ts'

/** What is there before the first deployment: the three steps that lead to it, each with its state. */
export function FirstSteps() {
  const now = useNow()
  const argoCd = useServiceStatus().data?.argo_cd
  const permission = usePermission()
  return (
    <section className="first" aria-labelledby="h-first">
      <h2 id="h-first">No deployment yet</h2>
      <ol className="do">
        <Step title="Argo CD" isDone={argoCd?.status === 'up'}>
          {argoCd === undefined ? 'Reading its state.' : argoCdSentence(argoCd, now)}
        </Step>
        <Step title="Credential" isDone={permission.kind === 'allowed'}>
          <Credential permission={permission} />
        </Step>
        <Step title="First deployment" isDone={false}>
          <Commands />
        </Step>
      </ol>
    </section>
  )
}

function Step({ title, isDone, children }: { title: string; isDone: boolean; children: ReactNode }) {
  return (
    <li>
      <div className="stack tight">
        <h3 className="row">
          {title}
          {isDone ? (
            <span className="st st-deployed">
              <Icon name="i-deployed" />
              <span className="sr">done</span>
            </span>
          ) : null}
        </h3>
        <div className="stack">{children}</div>
      </div>
    </li>
  )
}

function Credential({ permission }: { permission: Permission }) {
  if (permission.kind === 'allowed')
    return (
      <p>
        <Link href="/settings#tokens">Issue a deploy token</Link> and store it in the pipeline as{' '}
        <code>WATCHER_TOKEN</code>.
      </p>
    )
  if (permission.kind === 'signed_out')
    return (
      <p className="row">
        Sign in to issue a deploy token. <SignInLink />
      </p>
    )
  return (
    <p>
      Pipelines that commit tags send one: <code>WATCHER_DEPLOY_TOKEN</code> of the service, or a token that an
      administrator issues.
    </p>
  )
}

const commands = {
  github: { words: 'GitHub', write: githubStep },
  gitlab: { words: 'GitLab', write: gitlabJob },
  curl: { words: 'curl', write: firstCommand },
}
type Place = keyof typeof commands

function Commands() {
  const [place, setPlace] = useState<Place>('curl')
  const app = useFirstApp()
  const command = commands[place].write(window.location.origin, app)
  return (
    <>
      <Choice<Place>
        legend="Send it from"
        options={[
          ['github', commands.github.words],
          ['gitlab', commands.gitlab.words],
          ['curl', commands.curl.words],
        ]}
        value={place}
        choose={setPlace}
      />
      <div className="copy">
        <code className="code-block">{command}</code>
        <CopyButton text={command} label="Copy the command" size="icon" />
      </div>
    </>
  )
}

/** An application that runs, where the reader may know of one. */
function useFirstApp(): FirstApp | undefined {
  const { data } = useQuery({
    queryKey: ['versions', 'first'],
    queryFn: ({ signal }) => readJson<Versions>('/api/v1/versions', signal).catch(() => null),
  })
  return data?.apps
    .flatMap(({ app, images }) => images.flatMap(({ image, tag }) => (tag === undefined ? [] : [{ app, image, tag }])))
    .at(0)
}
