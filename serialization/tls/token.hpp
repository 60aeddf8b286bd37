// Tokens: secrets that say which client somebody is, where that has no certificate of its own.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <string>
#include <string_view>

namespace troupe {

/// 256 random bits as text.
std::string new_token();
/// SHA-256 as 64 small hexadecimal digits: what an access list has of a token.
std::string digest_of_token(std::string_view token);
/// Reads a token out of a file: printable characters, from 16 to 512, without the white space
/// around them.
result<std::string> read_token_file(const std::string& path);

} // namespace troupe
