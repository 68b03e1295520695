import { expect, test } from 'vitest'
import { targetPath } from './known-routes.ts'

test.for([
  ['/api/v1/tasks?limit=1', '/api/v1/tasks'],
  ['/%61pi/v1', '/api/v1'],
  ['/a%2Fb%3Fc', '/a%2Fb%3Fc'],
  ['/%zz', '/%zz'],
  ['//evil.example/api', '//evil.example/api'],
  ['http://x/api/v1/tasks?limit=1', '/api/v1/tasks'],
  ['*', '*'],
] as const)('%s is about %s', ([target, path]) => expect(targetPath(target)).toBe(path))
