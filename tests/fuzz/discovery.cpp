// Lists of hosts and counts, and texts that name sources of addresses: accepted input is within its
// bounds. The first byte selects the parser.
#include "tests/fuzz/fuzz.hpp"
#include "troupe/serialization/discovery/host_list.hpp"
#include "troupe/serialization/discovery/source_text.hpp"
#include "troupe/serialization/discovery/sources.hpp"

namespace troupe::fuzz::discovery {
namespace {

constexpr size_t max_items = 1000;

void check_source(std::string_view text, std::string_view scheme, auto make) {
  environment slurm = [&](const std::string& name) -> std::optional<std::string> {
    if (name == "HOSTNAME")
      return "pod-1";
    if (name == "SLURM_PROCID")
      return {};
    return name.ends_with("NODELIST") ? "n[1-3]" : "2(x3)";
  };
  auto source = make(text, slurm);
  fuzz::require(source.ok() || source.status().message().find(scheme) != std::string::npos);
  if (source)
    fuzz::require((*source)->read().ok() && (*source)->read()->tasks.size() <= max_tasks_of_source);
}

} // namespace

FUZZ_TARGET(discovery) {
  if (size == 0)
    return 0;
  std::string_view text{reinterpret_cast<const char*>(data + 1), size - 1};
  switch (data[0] % 5) {
    case 0:
      if (auto hosts = expand_host_list(text, max_items)) {
        fuzz::require(!hosts->empty() && hosts->size() <= max_items);
        for (const auto& host : *hosts)
          fuzz::require(!host.empty() && host.find_first_of("[],") == std::string::npos);
      }
      break;
    case 1:
      if (auto counts = expand_counts(text, max_items))
        for (auto count : *counts)
          fuzz::require(count > 0 && counts->size() <= max_items);
      break;
    case 2: check_source(text, "dns:", make_dns_source); break;
    case 3: check_source(text, "slurm:", make_slurm_source); break;
    default: check_source(text, "kubernetes:", make_kubernetes_source);
  }
  return 0;
}

} // namespace troupe::fuzz::discovery
