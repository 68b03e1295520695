import { shellQuote } from '../ui/shell-quote.ts'

/** What a first deployment names: its tag is the one that runs, so that nothing has to be committed. */
export type FirstApp = { readonly app: string; readonly image: string; readonly tag: string }

/** Of the demo. */
const demoApp: FirstApp = { app: 'shop', image: 'registry.example/shop', tag: '1.0.0' }

/** Submits and waits; with a token where the shell has one. */
export const firstCommand = (origin: string, { app, image, tag } = demoApp) => {
  const body = { app, author: 'you', project: 'demo', images: [{ image, tag }] }
  return `task=$(curl -sS --fail-with-body ${origin}/api/v1/tasks \\
  \${WATCHER_TOKEN:+-H "Authorization: Bearer $WATCHER_TOKEN"} -H "Content-Type: application/json" \\
  -d ${shellQuote(JSON.stringify(body, null, 1))}) && curl -sS --fail-with-body -w '\\n' \\
  "${origin}/api/v1/tasks/$(printf %s "$task" | cut -d'"' -f4)?wait=50" || printf '%s\\n' "$task"`
}

/** A step of a GitHub workflow, with the secret WATCHER_TOKEN. */
export const githubStep = (origin: string, app = demoApp) => `- name: Deploy and wait
  env:
    WATCHER_TOKEN: \${{ secrets.WATCHER_TOKEN }}
  run: |
${indent(4, deployAndWait(origin, app, { author: 'GITHUB_ACTOR', project: 'GITHUB_REPOSITORY', tag: 'GITHUB_SHA' }))}`

/** A job of GitLab, with the variable WATCHER_TOKEN. */
export const gitlabJob = (origin: string, app = demoApp) => `deploy:
  image: alpine
  script:
    - apk add --no-cache curl jq
    - |
${indent(6, deployAndWait(origin, app, { author: 'GITLAB_USER_LOGIN', project: 'CI_PROJECT_PATH', tag: 'CI_COMMIT_SHA' }))}`

type Variables = { readonly author: string; readonly project: string; readonly tag: string }

const deployAndWait = (origin: string, { app, image }: FirstApp, { author, project, tag }: Variables) =>
  `auth="Authorization: Bearer $WATCHER_TOKEN"
id=$(jq -n --arg app ${shellQuote(app)} --arg image ${shellQuote(image)} --arg tag "$${tag}" \\
  --arg author "$${author}" --arg project "$${project}" \\
  '{app: $app, author: $author, project: $project, images: [{image: $image, tag: $tag}]}' |
  curl -sS --fail-with-body -H "$auth" -H "Content-Type: application/json" -d @- \\
  ${origin}/api/v1/tasks | jq -r .id)
status="in progress"
while [ "$status" = "in progress" ]; do
  status=$(curl -sS --fail-with-body -H "$auth" "${origin}/api/v1/tasks/$id?wait=50" | jq -r .status)
done
[ "$status" = deployed ]`

const indent = (spaces: number, text: string) => text.replaceAll(/^/gm, ' '.repeat(spaces))
