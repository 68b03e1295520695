import { expect, test } from 'vitest'
import { eventWords } from './event-words.ts'

test.for([
  ['accepted', 'accepted from ada: shop:v2', 'Accepted from ada: shop:v2', ''],
  ['commit_pushed', 'commit 4be19d0 pushed to main', 'Commit 4be19d0 pushed to main', ''],
  ['health_changed', 'Progressing', 'Health status:', 'Progressing'],
  ['taken_over', '', 'Taken over by another replica', ''],
  ['of_a_newer_service', 'canary at 20 %', 'Canary at 20 %', ''],
  ['of_a_newer_service', '', 'of_a_newer_service', ''],
  ['constructor', 'what', 'What', ''],
] as const)('the event %s with "%s" is told as "%s"', ([kind, detail, what, more]) => {
  expect(eventWords({ kind: kind as 'note', detail })).toEqual({ what, more, images: [] })
})

test.for([
  [
    'application_confirmed',
    { application: 'argocd/shop', sync: 'Synced', revisions: ['4be19d0aaaa'], health: 'Healthy', refresh: true },
    'Application found:',
    'argocd/shop · Synced at 4be19d0 · Healthy · refresh requested',
  ],
  ['sync_changed', { sync: 'Synced', revisions: [], health: 'Degraded' }, 'Sync status:', 'Synced · Degraded'],
  ['operation_changed', { operation: 'Failed', images: [] }, 'Sync operation:', 'Failed · no Pods'],
  ['health_changed', { health: 'Healthy', operation: 'Running' }, 'Health status:', 'sync operation Running · Healthy'],
  ['waiting_for', { condition: 'no_old_pods' }, 'Waiting for the old Pods to end', ''],
  ['waiting_for', { cause: 'image_pull', condition: 'images' }, 'As it is said', ''],
  ['waiting_for', { condition: 'of_a_newer_service' }, 'As it is said', ''],
  ['health_changed', { canary: 20 }, 'Health status:', 'as it is said'],
] as const)('the event %s with the values %o is shown as "%s %s"', ([kind, data, what, more]) => {
  expect(eventWords({ kind, detail: 'as it is said', data: data as object })).toEqual({ what, more, images: [] })
})

test.for([
  ['accepted', { images: ['shop:v2'] }, 'Accepted:', ''],
  ['images_changed', { images: ['shop:v2', 'cart:v2'], health: 'Healthy' }, 'Images:', 'Healthy'],
] as const)('the images of %s are behind its words', ([kind, data, what, more]) => {
  const words = eventWords({ kind, detail: 'as it is said', data: { ...data, images: [...data.images] } })
  expect(words).toEqual({ what, more, images: data.images })
})
