// A self-signed certificate for "reprise.test" and its key, for tests alone.
#pragma once

namespace reprise::client::testing {

inline constexpr char kCertificate[] =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBnjCCAUSgAwIBAgIUIGfVqDWVzmmenw3zN+1K4TJCwfIwCgYIKoZIzj0EAwIw\n"
    "FzEVMBMGA1UEAwwMcmVwcmlzZS50ZXN0MCAXDTI2MTEzMDE1MjI1OVoYDzIxMjYx\n"
    "MTA2MTUyMjU5WjAXMRUwEwYDVQQDDAxyZXByaXNlLnRlc3QwWTATBgcqhkjOPQIB\n"
    "BggqhkjOPQMBBwNCAAQcPreUrA7RUqf3Lm5sZcJFpnXPZ/Sxni+EfNcAe81au41a\n"
    "Zhlb384Zcf8nHkNRn1bcdhH66BP5HTD0r88PuUrAo2wwajAdBgNVHQ4EFgQUpaD4\n"
    "c9dDTchJ8NlxYqwAVXZXsCswHwYDVR0jBBgwFoAUpaD4c9dDTchJ8NlxYqwAVXZX\n"
    "sCswDwYDVR0TAQH/BAUwAwEB/zAXBgNVHREEEDAOggxyZXByaXNlLnRlc3QwCgYI\n"
    "KoZIzj0EAwIDSAAwRQIgC3PNUFhba4hjn3zbm2YTYYqXFyfnDOTjpTrExLp7qh8C\n"
    "IQC2qmxevHZo+Z9hken5XMQh6snIA2lHaWPOcPdgB0RdQw==\n"
    "-----END CERTIFICATE-----\n";

inline constexpr char kKey[] =
    "-----BEGIN PRIVATE KEY-----\n"
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgBGRJS+Z/k60MH56k\n"
    "68xU4uWtTOIChIaVzlJzLQmmWM+hRANCAAQcPreUrA7RUqf3Lm5sZcJFpnXPZ/Sx\n"
    "ni+EfNcAe81au41aZhlb384Zcf8nHkNRn1bcdhH66BP5HTD0r88PuUrA\n"
    "-----END PRIVATE KEY-----\n";

// A key of no certificate.
inline constexpr char kOtherKey[] =
    "-----BEGIN PRIVATE KEY-----\n"
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgPVTLvxULDtyLWkZW\n"
    "oPgzE7WdB+efz5m8bvDA5OSEHC2hRANCAASFR/Y5UqD2AziBtiSfldJrYERXbt4M\n"
    "fzfLT40/BToufx6aHnZwbPFkUfo41d8jALJtoktNfaP8yJKI3PzjYrJY\n"
    "-----END PRIVATE KEY-----\n";

}  // namespace reprise::client::testing
