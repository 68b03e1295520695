import { gateImages, gateVerified } from './gate-images.ts'
import { gateOperationOver, gateRevision, isOperationOlder } from './gate-revision.ts'
import {
  type Gate,
  type GateContext,
  gateAlive,
  gateHealthy,
  gateNoErrors,
  gatePostOperation,
  gateSynced,
} from './gates.ts'

export type Gates = {
  readonly all: readonly Gate[]
  readonly closed: readonly (Gate & { readonly isOpen: false })[]
  readonly areOpen: boolean
  /** All but the images: what may be decided by manifests instead of Pods. */
  readonly othersAreOpen: boolean
  isOpen(name: Gate['name']): boolean
}

/** Looks at every gate on the same snapshot. */
export function judgeGates(context: GateContext): Gates {
  const others = [
    gateAlive(context),
    gateNoErrors(context),
    gateRevision(context),
    gateSynced(context),
    gateOperationOver(context),
    gatePostOperation(context, isOperationOlder(context)),
    gateHealthy(context),
  ]
  const othersAreOpen = others.every(({ isOpen }) => isOpen)
  const all = [...others, gateImages(context, othersAreOpen), gateVerified(context)]
  const closed = all.filter((gate) => !gate.isOpen)
  return {
    all,
    closed,
    areOpen: closed.length === 0,
    othersAreOpen,
    isOpen: (name) => all.some((gate) => gate.name === name && gate.isOpen),
  }
}
