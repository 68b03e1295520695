import { useEffect } from 'react'

/** Jumps to the part of the page that the address names, which was not there yet when the browser looked for it. */
export function useJump(): void {
  useEffect(() => {
    const id = window.location.hash.slice(1)
    if (id !== '') document.getElementById(id)?.scrollIntoView()
  }, [])
}
