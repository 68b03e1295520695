import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

// Usage: extract-pipelines.mjs <folder>. Writes the pipelines of the documents into folders named after the schema of each, the
// two documents of the component one by one, and beside them a project whose workflows use the Action of this checkout.

/** The heading above a pipeline, and its schema. */
const schemas = {
  'GitHub Actions': 'vendor.github-workflows',
  'GitHub Actions with the client': 'vendor.github-workflows',
  'GitHub Actions with curl': 'vendor.github-workflows',
  'In a pipeline': 'vendor.github-workflows',
  'GitHub Action': 'vendor.github-workflows',
  'GitLab CI': 'vendor.gitlab-ci',
  'GitLab CI with the client': 'vendor.gitlab-ci',
  'GitLab CI with curl': 'vendor.gitlab-ci',
  CircleCI: 'vendor.circle-ci',
  Buildkite: 'vendor.buildkite',
  'Azure Pipelines': 'vendor.azure-pipelines',
  'Bitbucket Pipelines': 'vendor.bitbucket-pipelines',
}

const [, , folder = ''] = process.argv
const counts = new Map()

/**
 * @param {string} below
 * @param {string} text
 */
function write(below, text) {
  const count = (counts.get(below) ?? 0) + 1
  counts.set(below, count)
  mkdirSync(path.join(folder, below), { recursive: true })
  writeFileSync(path.join(folder, below, `${count}.yml`), text)
}

for (const document of ['README.md', 'action/README.md', 'docs/ci.md']) {
  let heading = ''
  for (const [, title, code] of readFileSync(document, 'utf8').matchAll(/^#+ (.+)$|^```yaml\n([\s\S]*?)^```$/gm)) {
    if (title !== undefined) heading = title
    const schema = Object.entries(schemas).find(([name]) => name === heading)?.[1]
    if (code === undefined || schema === undefined || code.startsWith('metadata:')) continue
    // A part of a job, and not a whole workflow.
    const isPart = schema === 'vendor.github-workflows' && !/^on:/m.test(code)
    const job = `name: deploy\non: push\njobs:\n  deploy:\n    runs-on: ubuntu-latest\n    ${code.replaceAll('\n', '\n    ')}`
    const pipeline = isPart ? job : code
    write(schema, pipeline)
    if (schema === 'vendor.github-workflows')
      write('project/.github/workflows', pipeline.replace(/uses: \S+\/action@\S+/g, 'uses: ./action'))
  }
}
for (const part of readFileSync('templates/deploy.yml', 'utf8').split(/^---\n/m)) write('vendor.gitlab-ci', part)

const missing = [...new Set(Object.values(schemas))].filter((schema) => !counts.has(schema))
if (missing.length > 0) throw new Error(`no document has a pipeline for ${missing.join(', ')}`)
