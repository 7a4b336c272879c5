// SPDX-License-Identifier: BSD-2-Clause
// PyTorch's archive of an exported program, torch.export.save(): a zip file with the graph and the
// shapes of the weights as JSON, and each weight's bytes as a member of its own ("PT2 Archive Spec").
// Members that are pickles are never read.
#pragma once

#include "import/model_program.hpp"

namespace tenon {

// Throws TENON_ERR_FORMAT for what is damaged, and TENON_ERR_SUPPORT for versions and parts that
// cannot be imported.
ModelProgram readPt2(const ByteSource& source);

} // namespace tenon
