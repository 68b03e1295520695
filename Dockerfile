# docker build --build-arg NODE_DIGEST=sha256:… --tag deployment-watcher .
ARG NODE_IMAGE=docker.io/library/node:24-bookworm-slim
# Pins the base: the digest of that image in the registry.
ARG NODE_DIGEST=

FROM ${NODE_IMAGE}${NODE_DIGEST:+@$NODE_DIGEST} AS base
# ssh leaves a kept connection behind when it ends; tini collects it. Debian's mirrors drop old versions of packages, so
# what is installed is pinned by the digest of the base alone.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git libnss-wrapper openssh-client tini && rm -rf /var/lib/apt/lists/*
# ssh refuses to run for a user without an entry in /etc/passwd; libnss-wrapper gives one to a user that Kubernetes chose.
RUN useradd --uid 10001 --user-group --home-dir /nonexistent --shell /usr/sbin/nologin watcher
WORKDIR /app
COPY package.json package-lock.json .npmrc ./

FROM base AS build
RUN npm ci --ignore-scripts
COPY contract contract
COPY server server
COPY gotemplate gotemplate
COPY simulator simulator
COPY web web
COPY cli cli
COPY action action
RUN npm run build

# The simulated Argo CD and its Git host, for compose.yaml.
FROM build AS demo
RUN install -d -o 10001 -g 10001 /simulator
USER 10001:10001
ENTRYPOINT ["tini", "--"]
CMD ["node", "simulator/main.ts", "--demo", "--dir", "/simulator"]

FROM base AS packages
RUN npm ci --omit=dev --omit=optional && npm pkg delete devDependencies optionalDependencies && npm sbom --sbom-format=spdx > sbom.spdx.json

FROM base AS service
ENV NODE_ENV=production MALLOC_ARENA_MAX=2 DATA_DIR=/var/cache/deployment-watcher/replica
# A user that OpenShift chose is in the group 0.
RUN install -d -o 10001 -g 0 -m 0770 /var/cache/deployment-watcher/replica
COPY --from=packages /app/node_modules node_modules
COPY --from=packages /app/sbom.spdx.json sbom.spdx.json
COPY LICENSE ./
COPY contract contract
COPY gotemplate gotemplate
COPY server server
COPY --from=build /app/web/dist web/dist
COPY --from=build /app/cli/dist cli/dist
# The client of pipelines, by its name.
RUN ln -s /app/cli/dist/deployment-watcher.mjs /usr/local/bin/deployment-watcher
USER 10001:10001
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8080}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--"]
CMD ["node", "--memory-saver-mode", "--min-semi-space-size=8", "--max-semi-space-size=8", "server/main.ts"]
