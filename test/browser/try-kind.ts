import { afterAll, beforeAll, describe, test } from 'vitest'
import { type BrowserWorld, startBrowserWorld } from '../support/browser-world.ts'
import { deployExamples, exampleApplications, submitLongNames } from '../support/example-tasks.ts'
import { combinationsOf, everywhere, type Kind } from './combinations.ts'
import { flows } from './flows.ts'
import { expectQuiet, lookAt } from './look.ts'
import { type KnownTasks, pageStates } from './pages.ts'

/** Tries every flow and looks at every page that a service of this kind has: one service and one browser for all of them. */
export function tryKind(kind: Kind): void {
  let world: BrowserWorld
  let tasks: KnownTasks
  beforeAll(async () => {
    world = await startBrowserWorld({
      hasProvider: kind !== 'without a provider',
      isReadingClosed: kind === 'closed reading',
      applications: [...exampleApplications, 'held'],
    })
    tasks = { ...(await deployExamples(world)), long: await submitLongNames(world) }
  })
  afterAll(() => world?.[Symbol.asyncDispose]())

  const triedFlows = flows.flatMap((flow, row) =>
    combinationsOf(flow.kinds ?? everywhere, kind, row).map((combination) => ({ ...flow, combination })),
  )
  const suite = triedFlows.length > 0 ? describe : undefined // an empty one would fail
  suite?.(`a flow, ${kind}`, () => {
    test.for(triedFlows)(
      '$name: $combination.scheme, $combination.width px',
      async ({ run, complaint, combination }) => {
        await run({
          world,
          tasks,
          async open(path, as = world.ada) {
            const opened = await world.open(path, { ...combination, as: as === 'signed out' ? undefined : as })
            const close = async () => {
              await opened[Symbol.asyncDispose]()
              const outside = opened.outside.filter((url) => !url.startsWith(world.idp?.issuer ?? 'none'))
              expectQuiet({ ...opened, outside }, complaint)
            }
            return { ...opened, [Symbol.asyncDispose]: close }
          },
          look: (opened) => lookAt(opened, [combination]),
        })
      },
    )
  })

  const lookedAt = pageStates.flatMap((state, row) => {
    const combinations = combinationsOf(state.kinds ?? everywhere, kind, row)
    return combinations.length === 0 ? [] : [{ ...state, combinations }]
  })
  describe(`a page, ${kind}`, () => {
    test.for(lookedAt)('$name', async ({ path, isSignedOut, arrange, act, shows, complaint, combinations }) => {
      await using stack = new AsyncDisposableStack()
      const arranged = arrange && stack.use(await arrange(world))
      const opened = stack.use(
        await world.open(typeof path === 'string' ? path : path(tasks), {
          ...(arranged?.url === undefined ? {} : { url: arranged.url }),
          as: isSignedOut ? undefined : world.ada,
        }),
      )
      await act?.(opened.page, arranged)
      await shows(opened.page).waitFor()
      await lookAt(opened, combinations)
      expectQuiet(opened, complaint)
    })
  })
}
