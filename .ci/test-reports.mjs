// Reads the JSON reports of Vitest for .ci/run.
//   node .ci/test-reports.mjs failed <report>           prints the test files that failed, one a line
//   node .ci/test-reports.mjs count <report> [<again>]  prints "flaky: <name>" and "failed: <name>" lines, then
//                                                      "<passed> <failed>"
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

/**
 * @typedef {{ fullName: string, status: string }} Test
 * @typedef {{ name: string, status: string, assertionResults: Test[] }} TestFile
 * @typedef {{ testResults: TestFile[] }} Report
 */

/** @param {Report} report */
export const failedFiles = ({ testResults }) => testResults.filter(({ status }) => status === 'failed').map(nameOf)

/**
 * Counts a run and the second run of its failed files. A file that passes then counts as passed, and what had failed in
 * it is named as flaky.
 * @param {Report} report
 * @param {Report} again
 */
export function countTests({ testResults }, again = { testResults: [] }) {
  const secondRuns = new Map(again.testResults.map((file) => [file.name, file]))
  const files = testResults.map((file) => {
    const second = file.status === 'failed' ? secondRuns.get(file.name) : undefined
    return second?.status === 'passed' ? { last: second, flaky: failuresOf(file) } : { last: file, flaky: [] }
  })
  return {
    passed: files.reduce((total, { last }) => total + testsOf(last, 'passed').length, 0),
    failed: files.flatMap(({ last }) => (last.status === 'failed' ? failuresOf(last) : [])),
    flaky: files.flatMap(({ flaky }) => flaky),
  }
}

/** The names of a failed file's failed tests; its own name where it could not even be loaded. @param {TestFile} file */
function failuresOf(file) {
  const failed = testsOf(file, 'failed')
  return failed.length === 0 ? [nameOf(file)] : failed.map(({ fullName }) => `${nameOf(file)} > ${fullName}`)
}

/** @param {TestFile} file @param {string} status */
const testsOf = ({ assertionResults }, status) => assertionResults.filter((test) => test.status === status)

/** @param {TestFile} file */
const nameOf = ({ name }) => path.relative(process.cwd(), name)

/** @param {string} file @returns {Report} */
const read = (file) => JSON.parse(readFileSync(file, 'utf8'))

if (process.argv[1] === import.meta.filename) {
  const [, , command, report = '', again] = process.argv
  if (command === 'failed') for (const file of failedFiles(read(report))) console.log(file)
  else {
    const { passed, failed, flaky } = countTests(read(report), again && existsSync(again) ? read(again) : undefined)
    for (const name of flaky) console.log(`flaky: ${name}`)
    for (const name of failed) console.log(`failed: ${name}`)
    console.log(`${passed} ${failed.length}`)
  }
}
