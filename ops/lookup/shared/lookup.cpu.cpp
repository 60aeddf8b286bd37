#include "troupe/ops/lookup/shared/lookup.cpu.hpp"

#include "troupe/ops/lookup/shared/table_file.hpp"
#include "troupe/runtime/graph/graph.hpp"

namespace troupe::ops {
namespace {

lookup_table& table_of(const kernel_context& at) { return at.state_of_input<lookup_table>(0); }

// The allocator for memory that outlives the step.
allocator& lasting(const kernel_context& at) { return at.device().memory(); }

} // namespace

// The program resolves references when it is compiled.
status hold_table(kernel_context&) { return {}; }

status find_in_table(kernel_context& at) {
  auto& table = table_of(at);
  const auto& keys = at.input(1);
  std::vector<int64_t> extents{keys.dims().begin(), keys.dims().end()};
  const auto& value_dims = table.holds().value_dims;
  extents.insert(extents.end(), value_dims.begin(), value_dims.end());
  TROUPE_ASSIGN(auto dims, shape::make(extents));
  TROUPE_ASSIGN(auto* values, at.allocate(0, dims));
  return table.find(at, keys, at.input(2), *values);
}

status insert_into_table(kernel_context& at) {
  return table_of(at).insert({at.input(1), at.input(2)}, lasting(at));
}

status remove_from_table(kernel_context& at) { return table_of(at).remove(at.input(1)); }

status size_of_table(kernel_context& at) {
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{}));
  *out->data<int64_t>() = table_of(at).size();
  return {};
}

status export_table(kernel_context& at) {
  TROUPE_ASSIGN(auto pairs, table_of(at).content(at.memory()));
  at.set_output(0, std::move(pairs.keys));
  at.set_output(1, std::move(pairs.values));
  return {};
}

status import_table(kernel_context& at) {
  if (at.input(1).rank() != 1)
    return invalid("keys must be a vector, got shape ", at.input(1).dims());
  return table_of(at).replace({at.input(1), at.input(2)}, lasting(at));
}

status fill_table(kernel_context& at) {
  if (at.input(1).rank() != 1)
    return invalid("keys must be a vector, got shape ", at.input(1).dims());
  return table_of(at).initialize({at.input(1), at.input(2)}, lasting(at));
}

result<std::shared_ptr<void>> keep_table_file_format(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<table_file_format>(
      table_file_format{.key_index = setup.origin.attr<int64_t>("key_index"),
                        .value_index = setup.origin.attr<int64_t>("value_index"),
                        .lines = setup.origin.attr<int64_t>("vocab_size"),
                        .delimiter = setup.origin.attr<std::string>("delimiter").front(),
                        .offset = setup.origin.attr<int64_t>("offset")})};
}

status fill_table_from_file(kernel_context& at) {
  const auto& path = at.input(1);
  if (path.elements() != 1)
    return invalid("filename must be one string, got shape ", path.dims());
  auto& table = table_of(at);
  TROUPE_ASSIGN(auto pairs,
                read_table_file(*path.data<std::string>(), at.state<table_file_format>(),
                                table.holds(), at.stop()));
  return table.initialize(pairs, lasting(at));
}

} // namespace troupe::ops
