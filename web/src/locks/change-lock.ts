import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { DeployLockDetails, LockRequest } from '../../../contract/deploy-lock.ts'
import { failureWords } from '../ui/failure-words.ts'
import { sendJson } from '../ui/send-json.ts'
import { useToast } from '../ui/toast.tsx'
import { deployLockQuery } from './read-deploy-lock.ts'

const path = '/api/v1/deploy-lock'

/** What the reader asks of the lock; `said` confirms it, `undo` leads back. */
type LockChange = {
  readonly request: { readonly kind: 'lock'; readonly body: LockRequest } | { readonly kind: 'release' }
  readonly said: string
  readonly undo?: LockChange
}

/** POST and DELETE /api/v1/deploy-lock, confirmed by a toast with Undo. `error` is that of the last try. */
export function useChangeLock() {
  const client = useQueryClient()
  const showToast = useToast()
  const change = useMutation<unknown, Error, LockChange>({
    mutationFn: ({ request }) =>
      request.kind === 'lock' ? sendJson('POST', path, request.body) : sendJson('DELETE', path),
    onSuccess: (_answer, { said, undo }) => showToast({ text: said, ...(undo && { undo: () => change.mutate(undo) }) }),
    onError: (error, { undo }) => {
      // What Undo asks for has no button on the page that the rejection could stand beside.
      if (undo === undefined) showToast({ text: `Not undone: ${failureWords(error)}` })
    },
    onSettled: () => client.invalidateQueries(deployLockQuery),
  })
  return {
    isPending: change.isPending,
    error: change.variables?.undo === undefined ? null : change.error,
    /** Of a lock that was not set: what was sent. */
    sent: change.variables?.request.kind === 'lock' ? change.variables.request.body : undefined,
    lock: (body: LockRequest, onDone: () => void) => change.mutate(lockChange(body), { onSuccess: onDone }),
    release: (lock: DeployLockDetails, isInsideWindow: boolean, nowSeconds: number) =>
      change.mutate(releaseChange(lock, isInsideWindow, nowSeconds)),
  }
}

const lockChange = (body: LockRequest): LockChange => ({
  request: { kind: 'lock', body },
  said: 'All deployments are locked.',
  undo: { request: { kind: 'release' }, said: 'The lock is released again.' },
})

function releaseChange(lock: DeployLockDetails, isInsideWindow: boolean, nowSeconds: number): LockChange {
  return {
    request: { kind: 'release' },
    said: isInsideWindow ? 'Deployments are open for 15 minutes.' : 'Deployments are open again.',
    undo: { request: { kind: 'lock', body: lockAgain(lock, nowSeconds) }, said: 'All deployments are locked again.' },
  }
}

/** Sets the lock as it was; a lockdown window that was opened is locked manually until it ends. */
function lockAgain({ reason, until }: DeployLockDetails, nowSeconds: number): LockRequest {
  return { ...(reason !== null && { reason }), ...(until !== null && until > nowSeconds && { until }) }
}
