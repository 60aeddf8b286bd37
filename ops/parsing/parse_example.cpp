// Parses features from serialized tf.Example messages.
#include "troupe/ops/parsing/shared/example.hpp"

namespace troupe::ops::parse_example_op {
namespace {

result<shapes> infer_parse_example(const infer_context& at) {
  TROUPE_ASSIGN(auto batch, at.of_rank(0, 1));
  TROUPE_TRY(at.of_rank(1, 1));
  auto sparse = at.attr<int64_t>("Nsparse"), dense = at.attr<int64_t>("Ndense");
  if (static_cast<size_t>(sparse) != at.attr<std::vector<dtype>>("sparse_types").size() ||
      static_cast<size_t>(dense) != at.attr<std::vector<dtype>>("Tdense").size())
    return at.invalid("there must be one type for each of ", sparse, " sparse and ", dense,
                      " dense keys");
  for (int i = 2; i < 2 + sparse + dense; ++i)
    TROUPE_TRY(at.of_rank(i, 0));
  TROUPE_TRY(check_dense(at, static_cast<int>(2 + sparse + dense)));
  shapes out;
  for (const auto& dims :
       {partial_shape{unknown_extent, 2}, partial_shape{unknown_extent}, partial_shape{2}})
    out.insert(out.end(), static_cast<size_t>(sparse), dims);
  for (const auto& dims : at.attr<shapes>("dense_shapes")) {
    std::vector<int64_t> extents{batch[0]};
    extents.insert(extents.end(), dims.extents().begin(), dims.extents().end());
    TROUPE_ASSIGN(auto output_shape, partial_shape::make(extents));
    out.push_back(output_shape);
  }
  return out;
}

result<shapes> infer_parse_single_example(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0));
  auto sparse = static_cast<size_t>(at.attr<int64_t>("num_sparse"));
  if (sparse != at.attr<std::vector<std::string>>("sparse_keys").size() ||
      sparse != at.attr<std::vector<dtype>>("sparse_types").size())
    return at.invalid(
        "there must be one of sparse_keys and of sparse_types for each of num_sparse=", sparse);
  if (at.attr<std::vector<dtype>>("Tdense").size() !=
      at.attr<std::vector<std::string>>("dense_keys").size())
    return at.invalid("there must be one of dense_defaults for each of dense_keys");
  TROUPE_TRY(check_dense(at, 1));
  shapes out;
  for (const auto& dims :
       {partial_shape{unknown_extent, 1}, partial_shape{unknown_extent}, partial_shape{1}})
    out.insert(out.end(), sparse, dims);
  const auto& dense = at.attr<shapes>("dense_shapes");
  out.insert(out.end(), dense.begin(), dense.end());
  return out;
}

} // namespace

extern constexpr op_def parse_example{
    .name = "ParseExample",
    .doc =
        "Reads features out of a batch of tf.train.Example messages.\n\n"
        "A sparse feature has any number of values in each example, and becomes a sparse matrix "
        "with a row for each. A dense one has the values of its shape in each; where an example "
        "lacks it, its default stands, and an empty default says that none may. Where a dense "
        "shape leaves its first extent open, examples are filled up with the default, one value, "
        "to the longest. `names` are for errors, and may be empty.",
    .inputs = {{"serialized", "string"},
               {"names", "string"},
               {"sparse_keys", "string", "Nsparse"},
               {"dense_keys", "string", "Ndense"},
               {"dense_defaults", "Tdense"}},
    .outputs = {{"sparse_indices", "i64", "Nsparse"},
                {"sparse_values", "sparse_types"},
                {"sparse_shapes", "i64", "Nsparse"},
                {"dense_values", "Tdense"}},
    .attrs = {{"Nsparse", at_least{0}},
              {"Ndense", at_least{0}},
              feature_type_list("sparse_types"),
              feature_type_list("Tdense"),
              {"dense_shapes", attr_kind::shapes, true}},
    .infer = infer_parse_example,
    .no_gradient = "bytes have none",
    .example = R"(
# Each of both says {"n": int64_list [7, 8]}, the first {"x": float_list [1.5]} as well.
y = ParseExample(string[
    "\x0a\x1b\x0a\x0b\x0a\x01n\x12\x06\x1a\x04\x0a\x02\x07\x08\x0a\x0c\x0a\x01x\x12\x07\x12\x05\x0d\x00\x00\xc0\x3f",
    "\x0a\x0d\x0a\x0b\x0a\x01n\x12\x06\x1a\x04\x0a\x02\x07\x08"], string{0}[], string("n"),
    string("x"), f32(0)) Nsparse=1 Ndense=1 sparse_types=[i64] dense_shapes=[[]]
fetch y = i64[[0, 0], [0, 1], [1, 0], [1, 1]]
fetch y:1 = i64[7, 8, 7, 8]
fetch y:2 = i64[2, 2]
fetch y:3 = f32[1.5, 0]
)",
};

extern constexpr op_def parse_single_example{
    .name = "ParseSingleExample",
    .doc =
        "Reads features out of one tf.train.Example message.\n\n"
        "A sparse feature has any number of values, and becomes a sparse vector. A dense one has "
        "the values of its shape; where it is missing, its default stands, and an empty default "
        "says that it must not. Where a dense shape leaves its first extent open, there are as "
        "many values as there are.",
    .inputs = {{"serialized", "string"}, {"dense_defaults", "Tdense"}},
    .outputs = {{"sparse_indices", "i64", "num_sparse"},
                {"sparse_values", "sparse_types"},
                {"sparse_shapes", "i64", "num_sparse"},
                {"dense_values", "Tdense"}},
    .attrs = {{"num_sparse", at_least{0}},
              {"sparse_keys", attr_kind::texts, true},
              {"dense_keys", attr_kind::texts, true},
              feature_type_list("sparse_types"),
              feature_type_list("Tdense"),
              {"dense_shapes", attr_kind::shapes, true}},
    .infer = infer_parse_single_example,
    .no_gradient = "bytes have none",
    .example = R"(
# {"n": int64_list [7, 8], "x": float_list [1.5]}
y = ParseSingleExample(
    string("\x0a\x1b\x0a\x0b\x0a\x01n\x12\x06\x1a\x04\x0a\x02\x07\x08\x0a\x0c\x0a\x01x\x12\x07\x12\x05\x0d\x00\x00\xc0\x3f"),
    f32(0)) num_sparse=1 sparse_keys=["n"] dense_keys=["x"] sparse_types=[i64] dense_shapes=[[]]
fetch y = i64[[0], [1]]
fetch y:1 = i64[7, 8]
fetch y:2 = i64[2]
fetch y:3 = f32(1.5)
)",
};

} // namespace troupe::ops::parse_example_op
