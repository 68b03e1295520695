import { afterAll, beforeAll, describe, test } from 'vitest'
import { deployExamples, exampleApplications, submitLongNames } from '../support/example-tasks.ts'
import { startWorld, type World } from '../support/world.ts'
import { type Combination, combinations, everywhere, type Kind } from './combinations.ts'
import { type Flow, flows } from './flows.ts'
import { expectQuiet, lookAt } from './look.ts'
import { type KnownTasks, pageStates } from './pages.ts'

type Started = { readonly world: World; readonly tasks: KnownTasks }

/** Tries every flow and looks at every page that a service of this kind has, in all combinations. */
export function tryKind(kind: Kind): void {
  const started = startOnce(kind)
  tryFlows(
    started,
    `a flow, ${kind}`,
    flows.filter(isOf(kind)).flatMap((flow) => combinations.map((combination) => ({ ...flow, combination }))),
  )
  lookAtPages(started, kind, combinations)
}

/** Looks at every page of a kind in one combination. */
export function lookAtEachPage(kind: Kind): void {
  lookAtPages(startOnce(kind), kind, combinations.slice(0, 1))
}

function lookAtPages(started: () => Started, kind: Kind, looks: readonly Combination[]): void {
  describe(`a page, ${kind}`, () => {
    test.for(pageStates.filter(isOf(kind)))('$name', async ({ path, isSignedOut, arrange, act, shows, complaint }) => {
      const { world, tasks } = started()
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
      await opened.page.getByRole('heading', { level: 1 }).waitFor() // notices may come before the page
      await lookAt(opened, looks)
      expectQuiet(opened, complaint)
    })
  })
}

/** Tries the flows of `npm test`, each in one combination, which changes from row to row. */
export function tryFewFlows(kind: Kind): void {
  const inTurn = flows
    .filter(({ isInNpmTest }) => isInNpmTest)
    .flatMap((flow, row) =>
      combinations.filter((_, at) => at === row % combinations.length).map((combination) => ({ ...flow, combination })),
    )
  tryFlows(startOnce(kind), `a flow, ${kind}`, inTurn)
}

const isOf =
  (kind: Kind) =>
  ({ kinds = everywhere }: { readonly kinds?: readonly Kind[] }) =>
    kinds.includes(kind)

/** One service and one browser for all tests of a file. */
function startOnce(kind: Kind): () => Started {
  let world: World
  let tasks: KnownTasks
  beforeAll(async () => {
    world = await startWorld({
      parts: ['argo cd', 'lines', 'browser', ...(kind === 'without a provider' ? [] : (['provider'] as const))],
      settings: kind === 'closed reading' ? { IDP_REQUIRE_READ_AUTH: 'true' } : {},
      applications: [...exampleApplications, 'held', 'orders'],
    })
    tasks = { ...(await deployExamples(world)), long: await submitLongNames(world) }
  })
  afterAll(() => world?.[Symbol.asyncDispose]())
  return () => ({ world, tasks })
}

function tryFlows(
  started: () => Started,
  title: string,
  triedFlows: readonly (Flow & { readonly combination: Combination })[],
): void {
  describe(title, () => {
    test.for(triedFlows)(
      '$name: $combination.scheme, $combination.width px',
      async ({ run, complaint, timeZone, combination }) => {
        const { world, tasks } = started()
        await run({
          world,
          tasks,
          async open(path, as = world.ada) {
            const opened = await world.open(path, {
              ...combination,
              ...(timeZone === undefined ? {} : { timeZone }),
              as: as === 'signed out' ? undefined : as,
            })
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
}
