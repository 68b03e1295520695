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
 * What a newcomer can do next. Every command is one line that deploys and waits for the end, and can be pasted as it stands.
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
    'Deploy and wait for the end, one command each, in the folder of this checkout:',
    ...applications.flatMap((application) => [
      '',
      `# ${application.name}: ${application.note}`,
      deployLine(demo, application),
    ]),
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
 * The client of this checkout, and no stranger's of its name.
 *
 * @param {Demo} demo
 * @param {DemoApplication} application
 */
function deployLine({ address, token }, { name, image, tag }) {
  const variables = `WATCHER_URL=${address} WATCHER_TOKEN=${token}`
  return `${variables} npx --no deployment-watcher deploy --app ${name} --image ${image}:${newer(tag)}`
}
