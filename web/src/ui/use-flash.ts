import { useEffect, useRef, useState } from 'react'

const flashMs = 1_200

/** True for 1.2 s after the value changed; never for the first value. */
export function useFlash(value: unknown): boolean {
  const seen = useRef(value)
  const [flashing, setFlashing] = useState(false)
  useEffect(() => {
    if (Object.is(seen.current, value)) return
    seen.current = value
    setFlashing(true)
    const timer = setTimeout(() => setFlashing(false), flashMs)
    return () => clearTimeout(timer)
  }, [value])
  return flashing
}
