#include "troupe/serialization/tls/token.hpp"

#include "troupe/serialization/storage/file.hpp"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <new>
#include <span>

namespace troupe {
namespace {

constexpr size_t shortest_token = 16, longest_token = 512, random_bytes = 32;

std::string in_digits(std::span<const unsigned char> bytes) {
  constexpr auto digits = "0123456789abcdef";
  std::string text;
  for (auto byte : bytes)
    text += {digits[byte >> 4], digits[byte & 15]};
  return text;
}

} // namespace

std::string new_token() {
  unsigned char bytes[random_bytes];
  if (RAND_bytes(bytes, sizeof bytes) != 1)
    throw std::bad_alloc{};
  return in_digits(bytes);
}

std::string digest_of_token(std::string_view token) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (EVP_Digest(token.data(), token.size(), digest, &size, EVP_sha256(), nullptr) != 1)
    throw std::bad_alloc{};
  return in_digits({digest, size});
}

result<std::string> read_token_file(const std::string& path) {
  TROUPE_ASSIGN(auto text, read_file(path));
  auto is_space = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  auto begin = std::ranges::find_if_not(text, is_space);
  auto end = std::find_if_not(text.rbegin(), std::make_reverse_iterator(begin), is_space).base();
  std::string token{begin, end};
  if (token.size() < shortest_token || token.size() > longest_token ||
      !std::ranges::all_of(token, [](char c) { return c > ' ' && c <= '~'; }))
    return invalid("the file ", path, " has no token: ", shortest_token, " to ", longest_token,
                   " printable characters (troupe certs token)");
  return token;
}

} // namespace troupe
