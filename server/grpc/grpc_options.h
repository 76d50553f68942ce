// How the gRPC front listens and what it accepts.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace reprise {

struct TlsOptions {
  bool enabled = false;  // --grpc-use-ssl
  // --grpc-use-ssl-mutual: TLS, for clients that have a certificate.
  bool mutual = false;
  bool wanted() const { return enabled || mutual; }
  // PEM files. `refresh` after it has looked at them, a new connection looks
  // again.
  std::string certificate;  // --grpc-server-cert
  std::string key;          // --grpc-server-key
  std::string root;         // --grpc-root-cert: of the clients' certificates
  absl::Duration refresh = absl::Seconds(60);
};

struct KeepaliveOptions {
  absl::Duration time = absl::Hours(2);
  absl::Duration timeout = absl::Seconds(20);
  bool permit_without_calls = true;
  int max_pings_without_data = 2;
  // Clients that ping while idle are not sent away, as Triton's defaults do.
  absl::Duration min_receive_ping_interval = absl::Seconds(10);
  int max_ping_strikes = 2;
  absl::Duration max_connection_age = absl::InfiniteDuration();
  absl::Duration max_connection_age_grace = absl::InfiniteDuration();
};

struct GrpcOptions {
  std::string address = "127.0.0.1";  // a host, or unix:/path
  int port = 8001;                    // 0: any that is free
  int threads = 1;                    // that poll the completion queue
  int posted_calls = 128;             // ModelInfer calls that wait for arrivals
  int load_threads = 2;               // for load and unload, which block
  int64_t max_message_bytes = int64_t{256} << 20;  // both ways
  int64_t memory_bytes = int64_t{4} << 30;         // ResourceQuota
  int max_concurrent_streams = 0;                  // a connection; 0: no limit
  bool unavailable_when_full = false;  // not RESOURCE_EXHAUSTED for full queues
  absl::Duration slow_request = absl::ZeroDuration();  // zero: none is slow
  TlsOptions tls;
  KeepaliveOptions keepalive;
};

}  // namespace reprise
