import { expect, test } from 'vitest'
import { fuzzService } from './fuzz-service.ts'
import { renderReport } from './render-report.ts'
import { residentBytes } from './resident-bytes.ts'
import { startFuzzWorld } from './start-fuzz-world.ts'

const cases = 2_000 // `npm run fuzz` sends as many as it is told to

test('2,000 requests, good and broken, are each answered as the API document says (spec 4, 7)', async () => {
  await using world = await startFuzzWorld()
  const { service, credentials } = world
  const began = performance.now()
  const report = await fuzzService(service, credentials, { cases, seed: 1 })
  console.info(renderReport(report, (performance.now() - began) / 1000, await residentBytes(service)))
  expect(report.sent).toBeGreaterThanOrEqual(cases)
  expect(service.logs()).not.toMatch(/"level":[56]0|unhandled/i)
  expect(await service.kill('SIGTERM')).toBe(0)
})
