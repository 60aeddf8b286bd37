#include "troupe/api/train/checkpoint/task_saving.hpp"

#include "troupe/api/generated/ops.hpp"
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/serialization/storage/checksum.hpp"

#include <map>
#include <random>

namespace troupe {
namespace {

// The processor of the task that a node is put on; empty where nothing says which.
std::string task_of(const node& at) {
  auto device = device_name::parse(at.device());
  if (!device || device->job.empty())
    return {};
  return concat("/job:", device->job, device->task >= 0 ? concat("/task:", device->task) : "",
                "/cpu:0");
}

std::string slice_text(const manifest_slice& of, const shape& dims) {
  std::string text, axes;
  for (int axis = 0; axis < of.whole.rank(); ++axis) {
    text += concat(of.whole[axis], ' ');
    axes += concat(axis == 0 ? "" : ":", of.offset[static_cast<size_t>(axis)], ',', dims[axis]);
  }
  return text + axes;
}

tensor one_text(std::string text) { return tensor::scalar(std::move(text)); }

tensor texts(const std::vector<std::string>& all) { return tensor::vector<std::string>(all); }

std::string unused_name() {
  std::random_device device;
  return hex_text(uint64_t{device()} << 32 | device());
}

status as_status(const error& why) { return status{why.kind(), why.what()}; }

} // namespace

task_saving::task_saving(graph_builder& to, const std::vector<variable>& all, location where) {
  restore_path_ = to.placeholder(dtype::string, shape{}, {}, where);
  std::map<std::string, std::vector<variable>> by_task;
  for (const auto& one : all)
    by_task[task_of(*one.made.node)].push_back(one);
  for (const auto& [device, own] : by_task)
    add_shard(to, device, own, where);
}

void task_saving::add_shard(graph_builder& to, const std::string& device,
                            const std::vector<variable>& all, location where) {
  shard made;
  made.device = device;
  std::vector<std::string> names, slices;
  std::vector<dtype> types;
  for (const auto& one : all) {
    names.push_back(one.name);
    slices.push_back(
        one.slice ? slice_text(*one.slice, one.made.node->attr<partial_shape>("shape").known())
                  : "");
    types.push_back(one.made.node->attr<dtype>("dtype"));
  }
  auto add = [&](std::string op, std::vector<edge> inputs, attr_map attrs = {}) {
    node_spec spec;
    spec.op = std::move(op);
    spec.inputs = std::move(inputs);
    spec.attrs = std::move(attrs);
    spec.device = device;
    spec.where = where;
    return value_or_throw(to.add(std::move(spec)));
  };
  made.save_path = to.placeholder(dtype::string, shape{}, {}, where);
  made.probe_path = to.placeholder(dtype::string, shape{}, {}, where);
  made.probe_text = to.placeholder(dtype::string, shape{}, {}, where);
  auto listed = to.constant(texts(names), {}, where), parts = to.constant(texts(slices), {}, where);
  std::vector<edge> inputs{made.save_path, listed, parts};
  for (const auto& one : all)
    inputs.push_back(one.made);
  made.save = add("SaveV2", std::move(inputs));
  auto* read = add("RestoreV2", {restore_path_, listed, parts}, {{"dtypes", attr_value{types}}});
  std::vector<node*> assigns;
  for (size_t i = 0; i < all.size(); ++i)
    assigns.push_back(
        assign(all[i].made, edge{read, static_cast<int>(i)}, {.validate_shape = false}, {}, where)
            .node);
  made.restore = to.group(assigns, {}, where);
  auto probe = to.constant(texts({"probe"}), {}, where),
       whole = to.constant(texts({""}), {}, where);
  made.probe_write = add("SaveV2", {made.probe_path, probe, whole, made.probe_text});
  made.probe_read = {add("RestoreV2", {made.probe_path, probe, whole},
                         {{"dtypes", attr_value{std::vector<dtype>{dtype::string}}}}),
                     0};
  shards_.push_back(std::move(made));
}

status task_saving::check_shared(session& in, const std::string& folder, const run_options& each,
                                 location where) const {
  auto& files = real_files();
  TROUPE_TRY(make_folder_durably(files, folder));
  auto id = unused_name();
  auto mine = path_in(folder, concat(draft_prefix, "probe-", id));
  std::vector<std::string> written{mine};
  auto outcome = [&]() -> status {
    TROUPE_ASSIGN(auto writer, tensor_bundle_writer::begin(files, mine));
    TROUPE_TRY(writer.add("probe", one_text(id)));
    TROUPE_TRY(writer.finish());
    for (size_t i = 0; i < shards_.size(); ++i) {
      const auto& one = shards_[i];
      auto not_shared = [&](std::string_view who_sees_not) {
        return failure(error_kind::failed_precondition, folder, ": ", who_sees_not, ' ',
                       one.device.empty() ? std::string{"the task of the variables"} : one.device,
                       ", and tasks can only save to a folder that all of them share: name one on "
                       "a network's file system, or leave saver_options.by_tasks off");
      };
      try {
        auto seen = in.run({{one.probe_path, one_text(mine)}}, {one.probe_read}, {}, each, where);
        if (*seen.at(0).data<std::string>() != id)
          return not_shared("what this process writes is not what is seen by");
      } catch (const error& why) {
        return why.kind() == error_kind::not_found
                   ? not_shared("what this process writes is not seen by")
                   : as_status(why);
      }
      auto theirs = concat(mine, '-', i);
      written.push_back(theirs);
      try {
        in.run({{one.probe_path, one_text(theirs)}, {one.probe_text, one_text(id)}}, {},
               {one.probe_write}, each, where);
      } catch (const error& why) {
        return as_status(why);
      }
      auto seen = tensor_bundle_reader::open(files, theirs);
      if (!seen && seen.status().kind() == error_kind::not_found)
        return not_shared("this process does not see what is written by");
      TROUPE_TRY(seen.status());
    }
    return {};
  }();
  for (const auto& one : written)
    for (const auto* ending : {".index", ".data-00000-of-00001"})
      (void)files.remove(one + ending);
  return outcome;
}

status task_saving::write(session& in, const std::string& folder, const std::vector<edge>& more,
                          const item_maker& items, checkpoint_manifest& about,
                          const run_options& each, location where) const {
  std::vector<feed> feeds;
  std::vector<target> targets;
  std::vector<std::string> parts;
  for (size_t i = 0; i < shards_.size(); ++i) {
    parts.push_back(path_in(folder, concat("part-", i)));
    feeds.emplace_back(shards_[i].save_path, one_text(parts.back()));
    targets.emplace_back(shards_[i].save);
  }
  std::vector<tensor> values;
  try {
    values = in.run(feeds, more, targets, each, where);
  } catch (const error& why) {
    return as_status(why);
  }
  auto& files = real_files();
  if (auto own = items(std::move(values)); !own.empty()) {
    parts.push_back(path_in(folder, concat("part-", parts.size())));
    TROUPE_ASSIGN(auto writer, tensor_bundle_writer::begin(files, parts.back(), true));
    for (const auto& one : own)
      TROUPE_TRY(add_item(writer, one));
    TROUPE_TRY(writer.finish());
  }
  auto prefix = path_in(folder, bundle_name);
  TROUPE_TRY(merge_tensor_bundles(files, parts, prefix));
  TROUPE_ASSIGN(auto merged, tensor_bundle_reader::open(files, prefix));
  about.tensors = manifest_entries(merged, concat(bundle_name, ".index"));
  return {};
}

void task_saving::restore(session& in, const std::string& checkpoint, const run_options& each,
                          location where) const {
  std::vector<target> targets;
  for (const auto& one : shards_)
    targets.emplace_back(one.restore);
  in.run({{restore_path_, one_text(path_in(checkpoint, bundle_name))}}, {}, targets, each, where);
}

} // namespace troupe
