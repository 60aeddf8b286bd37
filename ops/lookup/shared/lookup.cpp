#include "troupe/ops/lookup/shared/lookup.hpp"

#include "troupe/ops/lookup/shared/table_file.hpp"

#include <algorithm>

namespace troupe::ops {
namespace {

table_signature signature_of_table(const node& maker) {
  table_signature signature{.key = maker.attr<dtype>("key_dtype"),
                            .value = maker.attr<dtype>("value_dtype")};
  if (maker.op().find_attr("value_shape"))
    signature.value_dims =
        maker.attr<partial_shape>("value_shape").known(); // infer_table has checked
  signature.constant = maker.op().create_state == make_constant_table;
  return signature;
}

// The signature of the table at input 0; nullopt where it is not known yet.
std::optional<table_signature> table_of(const infer_context& at) {
  const auto* maker = at.resource(0);
  return maker ? std::optional{signature_of_table(*maker)} : std::nullopt;
}

status check_types(const infer_context& at, std::string_view key, std::string_view value) {
  auto holds = table_of(at);
  if (!holds)
    return {};
  const auto& name = at.resource(0)->name();
  if (!key.empty() && at.attr<dtype>(key) != holds->key)
    return at.invalid("table '", name, "' has keys of type ", holds->key, ", got ",
                      at.attr<dtype>(key));
  if (!value.empty() && at.attr<dtype>(value) != holds->value)
    return at.invalid("table '", name, "' has values of type ", holds->value, ", got ",
                      at.attr<dtype>(value));
  return {};
}

status check_constant(const infer_context& at) {
  if (auto holds = table_of(at); holds && !holds->constant)
    return at.invalid("table '", at.resource(0)->name(),
                      "' may change at any time: LookupTableInsert or LookupTableImport fill it");
  return {};
}

status check_changes(const infer_context& at) {
  if (auto holds = table_of(at); holds && holds->constant)
    return at.invalid("table '", at.resource(0)->name(),
                      "' is initialized once and does not change: a MutableHashTable does");
  return {};
}

// The shape of a value for each key; unknown where the table is.
result<partial_shape> one_each(const infer_context& at, const partial_shape& keys) {
  auto holds = table_of(at);
  if (!holds || !keys.has_rank())
    return partial_shape::unknown();
  std::vector<int64_t> extents{keys.extents().begin(), keys.extents().end()};
  extents.insert(extents.end(), holds->value_dims.begin(), holds->value_dims.end());
  return partial_shape::make(extents);
}

// Keys are input 1, values input 2.
status check_pairs(const infer_context& at, const partial_shape& keys) {
  TROUPE_ASSIGN(auto expected_shape, one_each(at, keys));
  if (!expected_shape.compatible(at.input(2)))
    return at.invalid("keys have shape ", keys, ", so values must have shape ", expected_shape,
                      ", got ", at.input(2));
  return {};
}

} // namespace

std::shared_ptr<named_state> make_table(const node& from_node, std::string name) {
  return std::make_shared<lookup_table>(std::move(name), signature_of_table(from_node));
}

std::shared_ptr<named_state> make_constant_table(const node& from_node, std::string name) {
  return std::make_shared<lookup_table>(std::move(name), signature_of_table(from_node));
}

result<shapes> infer_table(const infer_context&) { return shapes{shape{}}; }

result<shapes> infer_table_of_tensors(const infer_context& at) {
  const auto& dims = at.attr<partial_shape>("value_shape");
  if (!dims.fully_known() || dims.rank() >= max_rank)
    return at.invalid("value_shape must be fully known and have less than ", max_rank,
                      " axes, got ", dims);
  return shapes{shape{}};
}

result<shapes> infer_table_find(const infer_context& at) {
  TROUPE_TRY(check_types(at, "Tin", "Tout"));
  TROUPE_ASSIGN(auto values, one_each(at, at.input(1)));
  if (auto holds = table_of(at))
    if (partial_shape value_shape{holds->value_dims};
        !value_shape.compatible(at.input(2)) && !values.compatible(at.input(2)))
      return at.invalid("default_value must have shape ", value_shape, ", or one for each key, ",
                        values, "; got ", at.input(2));
  return shapes{std::move(values)};
}

result<shapes> infer_table_insert(const infer_context& at) {
  TROUPE_TRY(check_types(at, "Tin", "Tout"));
  TROUPE_TRY(check_changes(at));
  TROUPE_TRY(check_pairs(at, at.input(1)));
  return shapes{};
}

result<shapes> infer_table_remove(const infer_context& at) {
  TROUPE_TRY(check_types(at, "Tin", {}));
  TROUPE_TRY(check_changes(at));
  return shapes{};
}

result<shapes> infer_table_size(const infer_context&) { return shapes{shape{}}; }

result<shapes> infer_table_export(const infer_context& at) {
  TROUPE_TRY(check_types(at, "Tkeys", "Tvalues"));
  partial_shape keys{unknown_extent};
  TROUPE_ASSIGN(auto values, one_each(at, keys));
  return shapes{std::move(keys), std::move(values)};
}

result<shapes> infer_table_import(const infer_context& at) {
  TROUPE_TRY(check_types(at, "Tin", "Tout"));
  TROUPE_ASSIGN(auto keys, at.of_rank(1, 1));
  TROUPE_TRY(check_pairs(at, keys));
  return shapes{};
}

result<shapes> infer_table_initialize(const infer_context& at) {
  TROUPE_TRY(check_types(at, "Tkey", "Tval"));
  TROUPE_TRY(check_constant(at));
  TROUPE_ASSIGN(auto keys, at.of_rank(1, 1));
  TROUPE_TRY(check_pairs(at, keys));
  return shapes{};
}

result<shapes> infer_table_initialize_from_file(const infer_context& at) {
  TROUPE_TRY(check_constant(at));
  TROUPE_TRY(at.of_rank(1, 0));
  if (auto lines = at.attr<int64_t>("vocab_size"); lines < -1 || lines == 0)
    return at.invalid("vocab_size must be positive, or -1 for all lines, got ", lines);
  if (const auto& delimiter = at.attr<std::string>("delimiter"); delimiter.size() != 1)
    return at.invalid("delimiter must be one byte, got '", delimiter, "'");
  if (auto holds = table_of(at)) {
    table_file_format format{.key_index = at.attr<int64_t>("key_index"),
                             .value_index = at.attr<int64_t>("value_index")};
    TROUPE_TRY(check_table_file(format, holds->key, holds->value));
    if (holds->value_dims.rank() != 0)
      return at.invalid("a text file tells single values, the table's have shape ",
                        holds->value_dims);
  }
  return shapes{};
}

} // namespace troupe::ops
