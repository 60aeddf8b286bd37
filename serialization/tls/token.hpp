// Access tokens: secrets that identify clients without a certificate of their own.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <string>
#include <string_view>

namespace troupe {

/// 256 random bits as text.
std::string new_token();
/// SHA-256 as 64 lower-case hexadecimal digits, as in access lists.
std::string digest_of_token(std::string_view token);
/// Reads a token from a file: printable characters, from 16 to 512. Ignores white space around
/// them.
result<std::string> read_token_file(const std::string& path);

} // namespace troupe
