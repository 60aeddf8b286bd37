#include "troupe/serialization/tensor_bundle/checkpoint_work.hpp"

#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/serialization/tensor_bundle/bundle_files.hpp"
#include "troupe/serialization/tensor_bundle/slice_file.hpp"
#include "troupe/serialization/tensor_bundle/slice_spec.hpp"
#include "troupe/serialization/tensor_bundle/tensor_bundle.hpp"

#include <optional>

namespace troupe {
namespace {

using outputs = std::vector<tensor>;

status step_stopped() { return failure(error_kind::cancelled, "the step has failed meanwhile"); }

result<std::string> single_text(const tensor& from, std::string_view name) {
  if (from.type() != dtype::string || from.elements() != 1)
    return invalid(name, " must be one string, got ", from.type(), from.dims());
  return *from.data<std::string>();
}

result<std::span<const std::string>> texts(const tensor& from, std::string_view name,
                                           std::optional<size_t> count = {}) {
  if (from.type() != dtype::string || from.rank() != 1)
    return invalid(name, " must be a vector of strings, got ", from.type(), from.dims());
  auto values = from.values<std::string>();
  if (count && values.size() != *count)
    return invalid(name, " has ", values.size(), " strings, and there are ", *count, " tensors");
  return std::span<const std::string>{values};
}

std::vector<int64_t> origin_of(const shape& full_shape) {
  return std::vector<int64_t>(static_cast<size_t>(full_shape.rank()));
}

// The inputs of a Save op.
struct save_request {
  std::string path;
  std::span<const std::string> names, slices; // no slices: all values are whole tensors
  std::span<const tensor> values;
};

result<save_request> read_save(const work_context& context, bool with_slices) {
  save_request request;
  TROUPE_ASSIGN(request.path, single_text(context.inputs[0], context.origin.input_port(0).name));
  if (request.path.empty())
    return invalid(context.origin.input_port(0).name, " must not be empty");
  request.values = context.inputs.subspan(with_slices ? 3 : 2);
  TROUPE_ASSIGN(request.names, texts(context.inputs[1], "tensor_names", request.values.size()));
  if (with_slices) {
    TROUPE_ASSIGN(request.slices, texts(context.inputs[2], context.origin.input_port(2).name,
                                        request.values.size()));
  }
  return request;
}

result<std::optional<slice_spec>> slice_of_value(const save_request& request, size_t i) {
  if (request.slices.empty())
    return std::optional<slice_spec>{};
  auto spec = slice_spec::parse(request.slices[i]);
  if (!spec)
    return spec.status().with_context(concat("tensor '", request.names[i], "'"));
  if (*spec && (*spec)->slice.dims != request.values[i].dims())
    return invalid("tensor '", request.names[i], "': the slice is ", (*spec)->slice.dims,
                   ", but the value is ", request.values[i].dims());
  return spec;
}

result<outputs> run_save_v2(const work_context& context) {
  TROUPE_ASSIGN(auto request, read_save(context, true));
  std::vector<std::optional<slice_spec>> slices; // checked first: an invalid one prevents any write
  for (size_t i = 0; i < request.values.size(); ++i) {
    TROUPE_ASSIGN(auto slice, slice_of_value(request, i));
    slices.push_back(std::move(slice));
  }
  auto& files = real_files();
  TROUPE_TRY(make_folder_durably(files, folder_of(request.path)));
  TROUPE_ASSIGN(auto writer, tensor_bundle_writer::begin(files, request.path, true));
  for (size_t i = 0; i < request.values.size(); ++i) {
    if (context.stopped())
      return step_stopped();
    if (slices[i] && !slices[i]->is_whole_tensor())
      TROUPE_TRY(writer.add_slice(request.names[i], slices[i]->full_shape, slices[i]->slice.offset,
                                  request.values[i]));
    else
      TROUPE_TRY(writer.add(request.names[i], request.values[i]));
  }
  TROUPE_TRY(writer.finish());
  return outputs{};
}

result<outputs> save_old(const work_context& context, bool with_slices) {
  TROUPE_ASSIGN(auto request, read_save(context, with_slices));
  slice_file_writer writer{real_files(), request.path};
  for (size_t i = 0; i < request.values.size(); ++i) {
    if (context.stopped())
      return step_stopped();
    TROUPE_ASSIGN(auto slice, slice_of_value(request, i));
    const auto& value = request.values[i];
    auto full_shape = slice ? slice->full_shape : value.dims();
    auto offset = slice ? slice->slice.offset : origin_of(full_shape);
    TROUPE_TRY(writer.add(request.names[i], full_shape, offset, value));
  }
  TROUPE_TRY(make_folder_durably(real_files(), folder_of(request.path)));
  TROUPE_TRY(writer.finish());
  return outputs{};
}

result<outputs> run_save(const work_context& context) { return save_old(context, false); }
result<outputs> run_save_slices(const work_context& context) { return save_old(context, true); }

// Reads a tensor of a checkpoint of either version.
template <class Reader>
result<tensor> read_value(const Reader& from, const std::string& path, const std::string& name,
                          std::string_view slice, dtype type) {
  auto context = [&] { return concat(path, ": tensor '", name, "'"); };
  auto spec = slice_spec::parse(slice);
  if (!spec)
    return spec.status().with_context(context());
  const auto* known = from.find(name);
  if (known && known->type != type)
    return invalid(context(), " is ",
                   known->type == dtype::none ? "of a type that Troupe does not have"
                                              : to_string(known->type),
                   " in the checkpoint, but ", type, " is requested");
  if (!*spec || !known) // read() fails for an unknown name
    return from.read(name);
  if ((*spec)->full_shape != known->dims)
    return invalid(context(), " is ", known->dims, " in the checkpoint, but a slice of ",
                   (*spec)->full_shape, " is requested");
  return from.read_slice(name, (*spec)->slice.offset, (*spec)->slice.dims);
}

template <class Reader>
result<outputs> read_all(const Reader& from, const std::string& path,
                         std::span<const std::string> names, std::span<const std::string> slices,
                         const work_context& context) {
  outputs values;
  for (size_t i = 0; i < names.size(); ++i) {
    if (context.stopped())
      return step_stopped();
    TROUPE_ASSIGN(auto value, read_value(from, path, names[i], slices.empty() ? "" : slices[i],
                                         context.origin.output_type(static_cast<int>(i))));
    values.push_back(std::move(value));
  }
  return values;
}

result<outputs> run_restore_v2(const work_context& context) {
  TROUPE_ASSIGN(auto prefix, single_text(context.inputs[0], "prefix"));
  auto count = static_cast<size_t>(context.origin.outputs());
  TROUPE_ASSIGN(auto names, texts(context.inputs[1], "tensor_names", count));
  TROUPE_ASSIGN(auto slices, texts(context.inputs[2], "shape_and_slices", count));
  auto& files = real_files();
  auto index = files.inspect(bundle_index_path(prefix));
  if (!index && index.status().kind() == error_kind::not_found) {
    auto old_reader = slice_file_reader::open(files, prefix);
    if (!old_reader && old_reader.status().kind() == error_kind::not_found)
      return failure(error_kind::not_found, prefix, ": there is no checkpoint: neither ",
                     bundle_index_path(prefix), " nor, of version 1, ", prefix);
    if (!old_reader)
      return old_reader.status();
    return read_all(*old_reader, prefix, names, slices, context);
  }
  TROUPE_ASSIGN(auto reader, tensor_bundle_reader::open(files, prefix));
  return read_all(reader, bundle_index_path(prefix), names, slices, context);
}

result<outputs> restore_old(const work_context& context, bool with_slice) {
  TROUPE_ASSIGN(auto pattern, single_text(context.inputs[0], "file_pattern"));
  TROUPE_ASSIGN(auto name, single_text(context.inputs[1], "tensor_name"));
  std::string slice;
  if (with_slice) {
    TROUPE_ASSIGN(slice, single_text(context.inputs[2], "shape_and_slice"));
  }
  TROUPE_ASSIGN(auto reader, slice_file_reader::open(real_files(), pattern));
  return read_all(reader, pattern, {&name, 1}, {&slice, 1}, context);
}

result<outputs> run_restore(const work_context& context) { return restore_old(context, false); }
result<outputs> run_restore_slice(const work_context& context) {
  return restore_old(context, true);
}

result<outputs> run_merge(const work_context& context) {
  TROUPE_ASSIGN(auto prefixes, texts(context.inputs[0], "checkpoint_prefixes"));
  TROUPE_ASSIGN(auto destination, single_text(context.inputs[1], "destination_prefix"));
  auto& files = real_files();
  TROUPE_TRY(merge_tensor_bundles(files, prefixes, destination,
                                  context.origin.attr<bool>("allow_missing_files")));
  if (context.origin.attr<bool>("delete_old_dirs"))
    for (const auto& prefix : prefixes)
      (void)files.remove(folder_of(prefix)); // fails for a folder with other files, which stays
  return outputs{};
}

} // namespace

status add_checkpoint_work(registry& target) {
  for (const auto& [op, run] : std::initializer_list<work_def>{
           {"SaveV2", run_save_v2},
           {"RestoreV2", run_restore_v2},
           {"MergeV2Checkpoints", run_merge},
           {"Save", run_save},
           {"SaveSlices", run_save_slices},
           {"Restore", run_restore},
           {"RestoreSlice", run_restore_slice},
       })
    TROUPE_TRY(target.add(work_def{op, run}));
  return {};
}

} // namespace troupe
