// The text graphs of this folder, and the ops' examples.
#pragma once
#include "troupe/actors/session/client.hpp"

#include <string>
#include <vector>

namespace troupe::test {

struct named_text {
  std::string name, text;
};

std::vector<named_text> all_cases();
std::vector<named_text> all_examples();
/// The examples without those that promise more digits of a product than f16 has.
std::vector<named_text> all_examples_for_16_bits();

/// Runs all of them, spread over the devices, and returns the failures. `ops` are those of the
/// session.
std::string differences_of(client& in, const registry& ops, const std::vector<named_text>& cases,
                           const std::vector<std::string>& devices);

} // namespace troupe::test
