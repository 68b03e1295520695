import { Component, type ReactNode } from 'react'
import { Icon } from '../ui/icon.tsx'

type Props = { children: ReactNode }

/** Keeps the bar and its ways out while a page cannot be drawn: an error in one page must not blank the others. */
export class PageBoundary extends Component<Props, { hasFailed: boolean }> {
  override state = { hasFailed: false }

  static getDerivedStateFromError = () => ({ hasFailed: true })

  override render() {
    if (!this.state.hasFailed) return this.props.children
    return (
      <>
        <h1 tabIndex={-1}>Page not shown</h1>
        <div className="empty" role="alert">
          <Icon name="i-failed" />
          <h2>This page could not be drawn</h2>
          <p>It met data that it does not know. Deployments are not affected.</p>
          <div className="row">
            <button className="btn btn-s" type="button" onClick={() => window.location.reload()}>
              Reload the page
            </button>
            <a className="btn btn-s" href="/tasks">
              All deployments
            </a>
          </div>
        </div>
      </>
    )
  }
}
