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
    const top = cameBack.current ? (places.current.get(path) ?? 0) : 0
    cameBack.current = false
    return onHeading((heading) => {
      heading.focus({ preventScroll: true })
      window.scrollTo(0, top)
    })
  }, [path])
}

/** Calls `work` with the heading of the page, which may still be loading. Returns how to stop waiting. */
function onHeading(work: (heading: HTMLElement) => void): (() => void) | undefined {
  const heading = document.querySelector('h1')
  if (heading !== null) return void work(heading)
  const observer = new MutationObserver(() => {
    const found = document.querySelector('h1')
    if (found === null) return
    observer.disconnect()
    work(found)
  })
  observer.observe(document.body, { childList: true, subtree: true })
  return () => observer.disconnect()
}
