import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { TaskAcceptance, TaskRecord, TaskSubmission } from '../../../contract/task.ts'
import { sessionQuery } from '../auth/session.ts'
import { AnswerError } from '../ui/read-json.ts'
import { sendJson } from '../ui/send-json.ts'
import { followedTask } from './read-task.ts'

/** DELETE /api/v1/tasks/<id>. The page then shows what the service says. */
export function useCancelTask(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => sendJson<TaskRecord>('DELETE', `/api/v1/tasks/${encodeURIComponent(id)}`),
    onSettled: () => client.invalidateQueries({ queryKey: followedTask(id).queryKey }),
  })
}

/**
 * POST /api/v1/tasks, and on to the new task. However often it is pressed on one page, it is one task. Who has signed out
 * elsewhere is not heard: without a credential the task would be accepted, and nothing committed.
 */
export function useSubmitTask() {
  const client = useQueryClient()
  const [idempotencyKey] = useState(newKey)
  const [, navigate] = useLocation()
  return useMutation({
    mutationFn: async (body: TaskSubmission) => {
      const { user } = await client.fetchQuery({ ...sessionQuery, staleTime: 0 })
      if (user === null) throw new AnswerError(401, 'you are signed out, so nothing was submitted')
      return sendJson<TaskAcceptance>('POST', '/api/v1/tasks', body, idempotencyKey)
    },
    onSuccess: ({ id }) => navigate(`/task/${encodeURIComponent(id)}`),
  })
}

/** `crypto.randomUUID` is missing on plain http. */
const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16)).join('-')
