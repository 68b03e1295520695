import { type ReactNode, useEffect, useState } from 'react'

const patienceMs = 300

/** Shows its children after 300 ms only, so that a quick answer never flickers. */
export function Delayed({ children }: { children: ReactNode }) {
  const [due, setDue] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setDue(true), patienceMs)
    return () => clearTimeout(timer)
  }, [])
  return due ? children : null
}
