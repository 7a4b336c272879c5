/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonDataset: labelled samples, served in distributed batches.
 *
 *  The samples lie in two IDX files, the format of MNIST: images [samples, height, width] and
 *  labels [samples], unsigned bytes both. A rank keeps of the images only the part of space that
 *  its batches hold. Order and batches do not depend on the number of ranks.
 *
 *  All calls return TENON_ERR_NULL for a NULL handle or address, and TENON_ERR_HANDLE for a handle
 *  whose object is gone or of another class.
 */
#ifndef TENON_DATASET_H
#define TENON_DATASET_H

#include <tenon/error.h>
#include <tenon/mpi.h>
#include <tenon/types.h>

/** @brief Opens and checks the two files on all ranks. Collective on comm.
 *
 *  @param[in]  comm     communicator of the batches
 *  @param[in]  images   path of the images
 *  @param[in]  labels   path of the labels
 *  @param[out] dataset  to be given back with TenonDatasetDestroy()
 *  @return on all ranks TENON_ERR_FILE if a file cannot be read, TENON_ERR_FORMAT if it is
 *          truncated, too long or of another format, or if the two do not belong together
 */
TENON_EXTERN TenonErrorCode TenonDatasetCreateIDX(MPI_Comm comm, const char* images,
                                                  const char* labels,
                                                  TenonDataset* dataset) TENON_NOEXCEPT;

/** @brief Number and extents of the samples. Not collective. Addresses may be NULL. */
TENON_EXTERN TenonErrorCode TenonDatasetGetShape(TenonDataset dataset, TenonInt* samples,
                                                 TenonInt* height, TenonInt* width) TENON_NOEXCEPT;

/** @brief A pixel p of 0 to 255 becomes scale p / 255 + shift; 1 and 0 by default. Not collective.
 */
TENON_EXTERN TenonErrorCode TenonDatasetSetScaling(TenonDataset dataset, double scale,
                                                   double shift) TENON_NOEXCEPT;

/** @brief Shuffles the samples anew in every epoch, by seed and epoch; by default they come in the
 *         files' order. Not collective, to be called alike on all ranks. */
TENON_EXTERN TenonErrorCode TenonDatasetSetShuffle(TenonDataset dataset, TenonBool shuffle,
                                                   TenonInt seed) TENON_NOEXCEPT;

/** @brief Fixes the layouts of the batches, and reads this rank's part. Collective on the dataset.
 *
 *  May be called again for other layouts.
 *
 *  @param[in] dataset  dataset
 *  @param[in] x        [batch, 1, height, width], of S, B and R without margins
 *  @param[in] labels   [batch], likewise
 *  @return on all ranks TENON_ERR_SHAPE or TENON_ERR_LAYOUT if a layout does not fit
 */
TENON_EXTERN TenonErrorCode TenonDatasetSetUp(TenonDataset dataset, TenonLayout x,
                                              TenonLayout labels) TENON_NOEXCEPT;

/** @brief Whole batches in an epoch; samples left over are not served. Not collective.
 *  @return TENON_ERR_STATE before SetUp */
TENON_EXTERN TenonErrorCode TenonDatasetGetBatchCount(TenonDataset dataset,
                                                      TenonInt* count) TENON_NOEXCEPT;

/** @brief Fills this rank's part of a batch. Not collective, to be called on all ranks.
 *
 *  @param[in]  dataset  set up
 *  @param[in]  epoch    from 0; chooses the order if the samples are shuffled
 *  @param[in]  batch    from 0
 *  @param[out] x        float32 or float64, in the layout of SetUp
 *  @param[out] labels   int64, in the layout of SetUp
 *  @return TENON_ERR_STATE before SetUp, TENON_ERR_ARG if there is no such batch or the epoch is
 *          below 0, TENON_ERR_LAYOUT, TENON_ERR_SHAPE or TENON_ERR_DATATYPE if a tensor does not fit
 */
TENON_EXTERN TenonErrorCode TenonDatasetGetBatch(TenonDataset dataset, TenonInt epoch,
                                                 TenonInt batch, TenonDTensor x,
                                                 TenonDTensor labels) TENON_NOEXCEPT;

/** @brief Gives a reference back and sets the handle to NULL. Not collective; accepts NULL. */
TENON_EXTERN TenonErrorCode TenonDatasetDestroy(TenonDataset* dataset) TENON_NOEXCEPT;

#endif
