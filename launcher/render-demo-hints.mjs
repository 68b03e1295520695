/** `tag` is what runs at the first start.
 * @typedef {{ name: string, image: string, tag: string, note: string }} DemoApplication */
/** `missing` is the name of an application that does not exist.
 * @typedef {{
 *   address: string,
 *   token: string,
 *   repository: string,
 *   applications: readonly DemoApplication[],
 *   missing: string,
 * }} Demo */

/**
 * What a newcomer can do next. Every command can be pasted as it stands: single quotes, no variable, no line break inside.
 *
 * @param {Demo} demo
 * @returns {string}
 */
export function renderDemoHints(demo) {
  const applications = [...demo.applications, ...missingApplication(demo)]
  const width = Math.max(...applications.map(({ name }) => name.length))
  return [
    '',
    'Deployment Watcher is running as a demo: a simulated Argo CD, a Git host and a database of its own.',
    '',
    `  Web UI         ${demo.address}/tasks`,
    `  API explorer   ${demo.address}/swagger/index.html`,
    `  Git host       ${demo.repository}`,
    '',
    'Demo applications:',
    ...applications.map(({ name, note }) => `  ${name.padEnd(width)}  ${note}`),
    '',
    'Deploy, one command each:',
    ...applications.flatMap((application) => [
      '',
      `# ${application.name}: ${application.note}`,
      submitLine(demo, application),
    ]),
    '',
    'Read a task, waiting up to 60 s for its end (put the id of the answer in place of <id>):',
    '',
    `curl -s '${demo.address}/api/v1/tasks/<id>?wait=60'`,
    '',
    'Ctrl+C stops everything.',
    '',
  ].join('\n')
}

/** @param {Demo} demo */
function missingApplication({ applications: [first], missing }) {
  return first ? [{ ...first, name: missing, note: 'does not exist: the task ends "app not found"' }] : []
}

/** The next minor version, so that something changes.
 * @param {string} tag */
const newer = (tag) => tag.replace(/^(\d+)\.(\d+)/, (_, major, minor) => `${major}.${Number(minor) + 1}`)

/**
 * @param {Demo} demo
 * @param {DemoApplication} application
 */
function submitLine({ address, token }, { name, image, tag }) {
  const task = { app: name, author: 'demo', project: 'demo', images: [{ image, tag: newer(tag) }] }
  const headers = [`Content-Type: application/json`, `Watcher-Deploy-Token: ${token}`]
  return `curl -s ${headers.map((header) => `-H '${header}'`).join(' ')} -d '${JSON.stringify(task)}' '${address}/api/v1/tasks'`
}
