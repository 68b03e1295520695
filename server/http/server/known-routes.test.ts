import { expect, test } from 'vitest'
import { createKnownRoutes, targetPath } from './known-routes.ts'

test('a path has the methods of its closest route: the task named counts is none', () => {
  const routes = createKnownRoutes()
  for (const [method, pattern] of [
    ['GET', '/tasks/:id'],
    ['DELETE', '/tasks/:id'],
    ['GET', '/tasks/counts'],
  ] as const)
    routes.add(method, pattern)
  expect(routes.methodsAt('/tasks/1')).toEqual(['DELETE', 'GET'])
  expect(routes.methodsAt('/tasks/counts')).toEqual(['GET'])
  expect(routes.methodsAt('/other')).toEqual([])
})

test.for([
  ['/api/v1/tasks?limit=1', '/api/v1/tasks'],
  ['/%61pi/v1', '/api/v1'],
  ['/a%2Fb%3Fc', '/a%2Fb%3Fc'],
  ['/%zz', '/%zz'],
  ['//evil.example/api', '//evil.example/api'],
  ['http://x/api/v1/tasks?limit=1', '/api/v1/tasks'],
  ['*', '*'],
] as const)('%s is about %s', ([target, path]) => expect(targetPath(target)).toBe(path))
