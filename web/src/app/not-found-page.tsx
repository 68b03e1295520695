import { useDocumentTitle } from '@mantine/hooks'
import { Link } from 'wouter'
import { Icon } from '../ui/icon.tsx'
import { pages } from './pages.ts'

/** Any address that is no page, inside the frame. */
export function NotFoundPage() {
  useDocumentTitle('Page not found · Deployment Watcher')
  return (
    <>
      <h1 tabIndex={-1}>Page not found</h1>
      <div className="empty">
        <Icon name="i-missing" />
        <p>
          Nothing is at <code className="wrap-any">{window.location.pathname}</code>.
        </p>
        <div className="row">
          {pages.map(({ path, name }) => (
            <Link className="btn btn-s" href={path} key={path}>
              {name}
            </Link>
          ))}
        </div>
      </div>
    </>
  )
}
