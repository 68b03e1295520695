/** @typedef {{ name: string, image: string, tag: string, note: string }} DemoApplication */
/** @typedef {{ address: string, token: string, applications: readonly DemoApplication[], repository: string }} Demo */

/**
 * What a newcomer can do next. Every command can be pasted as it stands: single quotes, no variable, no line break inside.
 *
 * @param {Demo} demo
 * @returns {string}
 */
export function renderDemoHints(demo) {
  const width = Math.max(...demo.applications.map(({ name }) => name.length))
  return [
    '',
    'Deployment Watcher is running as a demo: a simulated Argo CD, a Git host and a database of its own.',
    '',
    `  Web UI         ${demo.address}/tasks`,
    `  API explorer   ${demo.address}/swagger/index.html`,
    `  Git host       ${demo.repository}`,
    '',
    'Demo applications:',
    ...demo.applications.map(({ name, note }) => `  ${name.padEnd(width)}  ${note}`),
    '',
    'Deploy, one command each:',
    ...demo.applications.flatMap((application) => ['', `# ${application.note}`, submitLine(demo, application)]),
    '',
    'Read a task, waiting up to 60 s for its end (put the id of the answer in place of <id>):',
    '',
    `curl -s '${demo.address}/api/v1/tasks/<id>?wait=60'`,
    '',
    'Ctrl+C stops everything.',
    '',
  ].join('\n')
}

/**
 * @param {Demo} demo
 * @param {DemoApplication} application
 */
function submitLine({ address, token }, { name, image, tag }) {
  const task = { app: name, author: 'demo', project: 'demo', images: [{ image, tag }] }
  const headers = [`Content-Type: application/json`, `Watcher-Deploy-Token: ${token}`]
  return `curl -s ${headers.map((header) => `-H '${header}'`).join(' ')} -d '${JSON.stringify(task)}' '${address}/api/v1/tasks'`
}
