import { expect, test } from 'vitest'
import { cpuMs } from '../../../test/support/cpu-time.ts'
import { findSimilarApps } from './find-similar-apps.ts'

test.for<[string, string[], string[]]>([
  ['shop-backnd', ['shop-backend', 'shop-frontend', 'billing'], ['shop-backend']],
  ['Shop-Backend', ['shop-backend', 'shop-backends', 'shop-backend'], ['shop-backend', 'shop-backends']],
  ['checkuot-api', ['checkout-api', 'checkout-app'], ['checkout-api', 'checkout-app']],
  ['shp', ['shop', 'ship', 'store'], ['ship', 'shop']],
  ['abc', ['xyz'], []],
  ['same', ['same'], []],
])('%s among %j is like %j', ([wanted, known, similar]) => expect(findSimilarApps(wanted, known)).toEqual(similar))

test('5,000 long names take less than 2 s of processor time', () => {
  const names = Array.from({ length: 5_000 }, (_, at) => `${'a'.repeat(58)}${String(at).padStart(5, '0')}`)
  const beganMs = cpuMs()
  findSimilarApps('a'.repeat(63), names)
  expect(cpuMs() - beganMs).toBeLessThan(2_000)
})
