// cuDNN's layers: each family in a file of its own.
#pragma once
#include "troupe/devices/gpu/cuda/layers.hpp"

namespace troupe::gpu {

/// What cuDNN promises of a layer is what the layer says.
bool cudnn_offers(const pooling_layer& what);
bool cudnn_offers(const softmax_layer& what);
bool cudnn_offers(const lrn_layer& what);
bool cudnn_offers(const batch_norm_layer& what);

class cudnn_layers final : public layer_library {
public:
  bool offers(const layer& which) const override {
    return std::visit([](const auto& what) { return cudnn_offers(what); }, which);
  }

  // pool.cpp
  status pool(const call& at, const pooling_layer& what, const void* x, void* y) override;
  status pool_back(const call& at, const pooling_layer& what, const void* x, const void* dy,
                   void* dx) override;
  // softmax.cpp
  status softmax(const call& at, const softmax_layer& what, const void* x, void* y) override;
  // lrn.cpp
  status lrn(const call& at, const lrn_layer& what, const void* x, void* y) override;
  status lrn_back(const call& at, const lrn_layer& what, const void* x, const void* y,
                  const void* dy, void* dx) override;
  // batch_norm.cpp
  status normalize(const call& at, const batch_norm_layer& what, const void* x, const factors& with,
                   void* mean, void* variance, void* y) override;
  status normalize_back(const call& at, const batch_norm_layer& what, const normalized& of,
                        const void* dy, void* dx, void* dscale, void* doffset) override;
};

} // namespace troupe::gpu
