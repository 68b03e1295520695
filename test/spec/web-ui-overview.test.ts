import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { overviewFlows, tokenFlows } from '../browser/overview-flows.ts'
import { type BrowserWorld, startBrowserWorld } from '../support/browser-world.ts'
import { deployExamples, type ExampleTasks, exampleApplications } from '../support/example-tasks.ts'
import { findViolations } from '../support/find-violations.ts'

let world: BrowserWorld
let tasks: ExampleTasks
beforeAll(async () => {
  world = await startBrowserWorld({ hasProvider: true, applications: exampleApplications })
  tasks = await deployExamples(world)
})
afterAll(() => world?.[Symbol.asyncDispose]())

const combinations = [
  { scheme: 'light', width: 1440 },
  { scheme: 'dark', width: 390 },
  { scheme: 'light', width: 320 },
  { scheme: 'dark', width: 1440 },
] as const
const rows = [...overviewFlows, ...tokenFlows].map((flow, at) => ({
  ...flow,
  ...(combinations[at % combinations.length] ?? combinations[0]),
}))

describe('the overview, the history, the settings and Find', () => {
  test.for(rows)('$name: $scheme, $width px', async ({ run, scheme, width }) => {
    await run({
      world,
      tasks,
      async open(path, as = world.ada) {
        const opened = await world.open(path, { scheme, width, as: as === 'signed out' ? undefined : as })
        const close = async () => {
          await opened[Symbol.asyncDispose]()
          const complaints = opened.complaints.filter((text) => !/status of (401|406)/.test(text))
          expect({ complaints, outside: opened.outside }).toEqual({ complaints: [], outside: [] })
        }
        return { ...opened, [Symbol.asyncDispose]: close }
      },
      async look({ page }) {
        expect(await findViolations(page)).toEqual([])
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
      },
    })
  })
})
