import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void // what that flag brings

/** @returns the bytes of all living objects */
export function usedHeap(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}
