// Opens the bytes of a message for reading. The bytes are untrusted.
#pragma once
#include "troupe/runtime/types/status.hpp"
#include "troupe/serialization/wire/wire.capnp.h"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/exception.h>

#include <cstring>
#include <span>

namespace troupe {

template <class... Ts>
status damaged_message(const Ts&... parts) {
  return failure(error_kind::data_loss, "damaged message: ", parts...);
}

/// Calls `read` with the root of the message. Cap'n Proto checks every pointer when it is followed,
/// and throws.
template <class Result, class Root = wire::Envelope, class Read>
Result read_root(std::span<const std::byte> bytes, Read read) {
  if (bytes.size() % sizeof(capnp::word) != 0)
    return damaged_message("its length is not a multiple of 8");
  kj::Array<capnp::word> aligned;
  auto words = kj::arrayPtr(reinterpret_cast<const capnp::word*>(bytes.data()),
                            bytes.size() / sizeof(capnp::word));
  if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(capnp::word) != 0) {
    aligned = kj::heapArray<capnp::word>(words.size());
    std::memcpy(static_cast<void*>(aligned.begin()), bytes.data(), bytes.size());
    words = aligned.asPtr();
  }
  capnp::ReaderOptions limits;
  // Pointers may refer to the same bytes many times; a valid message is read about twice.
  limits.traversalLimitInWords = 4 * words.size() + 1024;
  limits.nestingLimit = 16;
  try {
    capnp::FlatArrayMessageReader reader{words, limits};
    if (reader.getEnd() != words.end())
      return damaged_message("bytes follow its end");
    return read(reader.getRoot<Root>());
  } catch (const kj::Exception& thrown) {
    return damaged_message(thrown.getDescription().cStr());
  }
}

} // namespace troupe
