# The server and its command line tool, without compilers: a stage that builds,
# and two that run the same programs.
#
#   docker build -t reprise .                    for GPUs and CPUs, with cuBLASLt
#   docker build -t reprise:cpu --target cpu .   without it: a tenth of the size
#
#   docker run --rm -p 8001:8001 -p 8002:8002 -v $PWD/deploy/models:/models:ro reprise
#
# With --gpus=all it serves on GPUs, which takes a driver of CUDA 13 (580) or
# newer; without, or where there is none, on the CPU.

FROM debian:12-slim AS build
WORKDIR /src
COPY deploy/setup deploy/setup
COPY deploy/cmake deploy/cmake
RUN deploy/setup --cuda
COPY . .
RUN cmake --preset release -DBUILD_TESTING=OFF \
      -DREPRISE_CUDA=ON -DREPRISE_CUDA_ALL_ARCHS=ON \
 && cmake --build --preset release --target reprised reprise \
 && strip build/release/bin/reprised build/release/bin/reprise
# Every shared library that the programs load, but for those of the C library,
# which the other stages have; and the one of NVIDIA's that is opened at run time.
RUN mkdir -p /out/lib /out/bin /out/cuda \
 && cp build/release/bin/reprised build/release/bin/reprise /out/bin/ \
 && ldd /out/bin/reprised /out/bin/reprise | awk '$3 ~ /^\// {print $3}' | sort -u \
  | while read -r library; do \
      case $(dpkg -S "$(realpath "$library")" 2>/dev/null) in \
        libc6:*) ;; \
        *) cp -L "$library" /out/lib/ ;; \
      esac; \
    done \
 && cp -L build/cuda/lib/python3*/site-packages/nvidia/cu13/lib/libcublasLt.so.13 /out/cuda/

FROM debian:12-slim AS cpu
COPY --from=build /out/lib/ /usr/local/lib/
COPY --from=build /out/bin/ /usr/local/bin/
RUN ldconfig
USER 1000:1000
EXPOSE 8001 8002
STOPSIGNAL SIGTERM
HEALTHCHECK --start-period=60s CMD ["reprise", "health", "readiness"]
ENTRYPOINT ["reprised", "--grpc-address=0.0.0.0", "--metrics-address=0.0.0.0"]
CMD ["--model-repository=/models"]

FROM cpu AS cuda
# What the container toolkit brings: the driver, and NVML.
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
# The root may be read-only. Kernels are there for every GPU that is served, so
# that what the driver still compiles is little.
ENV CUDA_CACHE_DISABLE=1
COPY --from=build /out/cuda/ /usr/local/lib/
