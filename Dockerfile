# syntax=docker/dockerfile:1
# Built and run with the same commands as a checkout; the embedded server's binaries need glibc.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc tsconfig.json tsconfig.base.json ./
COPY test-servers/package.json test-servers/
COPY engine/package.json engine/
COPY portal/package.json portal/
COPY server/package.json server/
COPY acceptance/package.json acceptance/
COPY bench/package.json bench/
COPY faults/package.json faults/
COPY fuzz/package.json fuzz/
COPY tools/package.json tools/
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev

FROM node:24-bookworm-slim
ENV NODE_ENV=production STRONGROOM_ENV=production STRONGROOM_HOST=0.0.0.0 STRONGROOM_DATA_DIR=/var/lib/strongroom
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/server server
COPY --from=build /app/engine engine
COPY --from=build /app/portal/package.json portal/
COPY --from=build /app/portal/dist portal/dist
RUN install -d -o node -g node -m 0700 /var/lib/strongroom \
  && ln -s /app/server/bin/strongroom /usr/local/bin/strongroom
USER node
VOLUME /var/lib/strongroom
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s CMD node -e "fetch('http://127.0.0.1:8080/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"
ENTRYPOINT ["node", "--enable-source-maps", "/app/server/dist/main.js"]
CMD ["serve"]
