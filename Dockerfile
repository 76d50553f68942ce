# The server and its command line tool, without compilers: a stage that builds,
# a stage that runs.
#
#   docker build -t reprise .
#   docker run --rm -p 8001:8001 -p 8002:8002 -v $PWD/deploy/models:/models:ro reprise

FROM debian:12-slim AS build
WORKDIR /src
COPY deploy/setup deploy/setup
RUN deploy/setup
COPY . .
RUN cmake --preset release -DBUILD_TESTING=OFF \
 && cmake --build --preset release --target reprised reprise \
 && strip build/release/bin/reprised build/release/bin/reprise
# Every shared library that the programs load, but for those of the C library,
# which the other stage has.
RUN mkdir -p /out/lib /out/bin \
 && cp build/release/bin/reprised build/release/bin/reprise /out/bin/ \
 && ldd /out/bin/reprised /out/bin/reprise | awk '$3 ~ /^\// {print $3}' | sort -u \
  | while read -r library; do \
      case $(dpkg -S "$(realpath "$library")" 2>/dev/null) in \
        libc6:*) ;; \
        *) cp -L "$library" /out/lib/ ;; \
      esac; \
    done

FROM debian:12-slim
COPY --from=build /out/lib/ /usr/local/lib/
COPY --from=build /out/bin/ /usr/local/bin/
RUN ldconfig
USER 1000:1000
EXPOSE 8001 8002
STOPSIGNAL SIGTERM
HEALTHCHECK --start-period=60s CMD ["reprise", "health", "readiness"]
ENTRYPOINT ["reprised", "--grpc-address=0.0.0.0", "--metrics-address=0.0.0.0"]
CMD ["--model-repository=/models"]
