// Arrays of NumPy: accepted arrays can be written and read again.
#include "troupe/serialization/arrays/npy.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace troupe::fuzz::npy {

FUZZ_TARGET(npy) {
  auto value = read_npy(fuzz::bytes(data, size));
  if (!value)
    return 0;
  auto written = write_npy(*value);
  fuzz::require(written.ok());
  auto copy = read_npy(std::as_bytes(std::span{*written}));
  fuzz::require(copy && identical(*copy, *value));
  return 0;
}

} // namespace troupe::fuzz::npy
