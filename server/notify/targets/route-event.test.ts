import { expect, test } from 'vitest'
import { eventOf, type RoutedTask, targetsFor, targetsForLock } from './route-event.ts'

const task: RoutedTask = {
  app: 'shop',
  status: 'deployed',
  mayWrite: true,
  previousStatus: undefined,
  added: undefined,
}

test.for([
  ['started', 'in progress', undefined, 'started'],
  ['started', 'failed', undefined, undefined],
  ['ended', 'deployed', undefined, 'succeeded'],
  ['ended', 'deployed', 'deployed', 'succeeded'],
  ['ended', 'deployed', 'failed', 'recovered'],
  ['ended', 'failed', 'deployed', 'failed'],
  ['ended', 'failed', 'failed', 'failed'],
  ['ended', 'app not found', undefined, 'failed'],
  ['ended', 'aborted', undefined, 'aborted'],
  ['ended', 'cancelled', undefined, 'cancelled'],
  ['ended', 'in progress', undefined, undefined],
] as const)('%s: a task that is %s after one that was %s is told as %s', ([change, status, previousStatus, event]) =>
  expect(eventOf(change, { ...task, status, previousStatus })).toBe(event),
)

const route = (change: object) => ({ events: ['succeeded'] as const, targets: ['a'], anonymous: false, ...change })
test.for<[string, object[], Partial<RoutedTask>, 'succeeded' | 'recovered' | 'failed', string[]]>([
  ['a route without applications', [{}], {}, 'succeeded', ['a']],
  ['a route for other events', [{}], {}, 'failed', []],
  ['a route for successes, of a recovery', [{}], {}, 'recovered', ['a']],
  ['a route for recoveries, of a success', [{ events: ['recovered'] }], {}, 'succeeded', []],
  ['a route for its application', [{ apps: ['shop'] }], {}, 'succeeded', ['a']],
  ['a route by a glob', [{ apps: ['sh*'] }], {}, 'succeeded', ['a']],
  ['a route for other applications', [{ apps: ['web'] }], {}, 'succeeded', []],
  ['a glob, of an application of a namespace', [{ apps: ['*'] }], { app: 'team/shop' }, 'succeeded', []],
  ['a task without a credential', [{}], { mayWrite: false }, 'succeeded', []],
  ['a task without a credential that is wanted', [{ anonymous: true }], { mayWrite: false }, 'succeeded', ['a']],
  ['two routes to one target', [{}, { targets: ['b', 'a'] }], {}, 'succeeded', ['a', 'b']],
])('%s', ([, routes, change, event, targets]) =>
  expect(targetsFor(event, { ...task, ...change }, { targets: new Map(), routes: routes.map(route) as never })).toEqual(
    targets,
  ),
)

const only = { added: { targets: ['own', 'unknown'], events: ['failed'] as const } }
test.for<[string, Partial<RoutedTask>, 'succeeded' | 'recovered' | 'failed', string[]]>([
  ['of all events', { added: { targets: ['own'] } }, 'succeeded', ['a', 'own']],
  ['of an event, for it', only, 'failed', ['own']],
  ['of an event, for another one', only, 'succeeded', ['a']],
  ['of successes, for a recovery', { added: { targets: ['own'], events: ['succeeded'] } }, 'recovered', ['a', 'own']],
  ['that a route names too', { added: { targets: ['a'] } }, 'succeeded', ['a']],
  ['for a task without a credential', { ...only, mayWrite: false }, 'failed', []],
])('a target that the application adds, %s', ([, change, event, targets]) => {
  const named = new Map(['a', 'own'].map((name) => [name, undefined])) as never
  expect(targetsFor(event, { ...task, ...change }, { targets: named, routes: [route({})] as never })).toEqual(targets)
})

test('a change of the lock is told where a route says so', () => {
  const routes = [
    route({}),
    route({ events: ['lock_changed'], targets: ['b', 'c'] }),
    route({ events: ['lock_changed', 'failed'] }),
  ]
  expect(targetsForLock({ targets: new Map(), routes: routes as never })).toEqual(['b', 'c', 'a'])
})
