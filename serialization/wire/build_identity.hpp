// The identity of this build, which `hello` carries. cmake/build_identity.cmake writes the source
// while building.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace troupe {

/// The maximum length of a build's name; a longer name in a peer's hello is a protocol error.
inline constexpr size_t max_build_name = 64;

/// Returns a hash of the schema of messages (wire.capnp). Two processes can exchange messages only
/// if their hashes are equal.
uint64_t wire_schema_hash() noexcept;

/// Returns the commit that this library was built from, with "-modified" if its sources had
/// uncommitted changes, or "sources-" and a hash of the sources if there was no repository.
std::string_view build_commit() noexcept;

} // namespace troupe
