#include "client/channel.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/status.h"
#include "client/tls_files.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/support/channel_arguments.h"

namespace reprise::client {

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeCredentials(
    const ChannelOptions& options) {
  if (options.target.empty()) {
    return absl::InvalidArgumentError("the server's address is empty");
  }
  if (options.cert_file.empty() != options.key_file.empty()) {
    return absl::InvalidArgumentError(
        "a client certificate and its key must be given together");
  }
  const bool tls = options.tls || !options.ca_file.empty() ||
                   !options.cert_file.empty() || !options.server_name.empty();
  if (!tls) return grpc::InsecureChannelCredentials();

  grpc::SslCredentialsOptions ssl;
  if (!options.ca_file.empty()) {
    CLIENT_ASSIGN_OR_RETURN(ssl.pem_root_certs,
                            ReadCertificates(options.ca_file));
  }
  if (!options.cert_file.empty()) {
    CLIENT_ASSIGN_OR_RETURN(ssl.pem_cert_chain,
                            ReadCertificates(options.cert_file));
    CLIENT_ASSIGN_OR_RETURN(
        ssl.pem_private_key,
        ReadKey(options.key_file, ssl.pem_cert_chain, options.cert_file));
  }
  return grpc::SslCredentials(ssl);
}

absl::StatusOr<std::vector<std::shared_ptr<grpc::Channel>>> MakeChannels(
    const ChannelOptions& options, int count) {
  if (count < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot open ", count, " connections"));
  }
  CLIENT_ASSIGN_OR_RETURN(std::shared_ptr<grpc::ChannelCredentials> credentials,
                          MakeCredentials(options));
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  for (int i = 0; i < count; ++i) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(options.max_message_bytes);
    arguments.SetMaxSendMessageSize(options.max_message_bytes);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    if (!options.server_name.empty()) {
      arguments.SetSslTargetNameOverride(options.server_name);
    }
    channels.push_back(
        grpc::CreateCustomChannel(options.target, credentials, arguments));
  }
  return channels;
}

}  // namespace reprise::client
