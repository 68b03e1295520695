import { useMutation } from '@tanstack/react-query'
import { sendJson } from '../ui/send-json.ts'

/** POST /auth/logout; the browser then goes where the service says, which may be the identity provider. */
export const useSignOut = () =>
  useMutation({
    mutationFn: () => sendJson<{ location: string }>('POST', '/auth/logout'),
    onSuccess: ({ location }) => window.location.assign(location),
  })
