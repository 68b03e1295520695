import { workerData } from 'node:worker_threads'
import { attacks, type Target } from './attacks.ts'

export type Order = { readonly name: string; readonly target: Omit<Target, 'untilMs'>; readonly windowMs: number }

const { name, target, windowMs }: Order = workerData
await attacks[name]?.({ ...target, untilMs: performance.now() + windowMs })
process.exit() // whatever is still being closed
