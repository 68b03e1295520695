import { useEffect, useRef } from 'react'
import { useLocation } from 'wouter'

/** After a change of page the focus goes to its heading; a new page starts at the top, back and forward where one was. */
export function useRouteFocus(): void {
  const [path] = useLocation()
  const seen = useRef(path)
  const places = useRef(new Map<string, number>())
  const cameBack = useRef(false)
  useEffect(() => {
    const note = () => {
      // Filters and jumps within a page are history too, and change no path.
      cameBack.current = window.location.pathname !== seen.current
    }
    const remember = () => places.current.set(window.location.pathname, window.scrollY)
    window.addEventListener('popstate', note, { capture: true })
    window.addEventListener('scroll', remember, { passive: true })
    return () => {
      window.removeEventListener('popstate', note, { capture: true })
      window.removeEventListener('scroll', remember)
    }
  }, [])
  useEffect(() => {
    if (seen.current === path) return
    seen.current = path
    document.querySelector('h1')?.focus({ preventScroll: true })
    window.scrollTo(0, cameBack.current ? (places.current.get(path) ?? 0) : 0)
    cameBack.current = false
  }, [path])
}
