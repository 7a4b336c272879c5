! SPDX-License-Identifier: BSD-2-Clause
! Arrays that are not those of the tensor are refused, with the code and the dimension named; the tensor keeps
! its memory.
program arrays_refused
  use mpi_f08, only: MPI_Init, MPI_Finalize, MPI_COMM_WORLD
  use tenon
  use, intrinsic :: iso_fortran_env, only: real32, real64
  implicit none
  type(tenon_layout) :: layout, refused
  type(tenon_dtensor) :: x
  real(real64), target :: u(0:5, 0:4), other(6, 5), cube(4, 3, 2), channels(2, 4, 3)
  real(real32), target :: single(4, 3)
  real(real64), pointer :: p(:, :), line(:), everything(:, :, :)
  real(real64) :: norm
  character(:), allocatable :: text
  integer :: ierr

  call MPI_Init()
  call tenon_initialize()
  call tenon_push_error_handler(tenon_return_error_handler)
  call tenon_layout_create_from_boxes(MPI_COMM_WORLD, [1, 1], [4, 3], layout)
  call tenon_dtensor_create(layout, TENON_FLOAT64, x)
  u = 1
  call tenon_place(x, u(1:4, 1:3), array=u)

  ! Boxes from 0; boxes from 2, of which the library speaks in the order of C.
  call tenon_layout_create_from_boxes(MPI_COMM_WORLD, [1, 0], [4, 3], refused, ierr=ierr)
  call expect(TENON_ERR_LAYOUT, 'low(2) is 0; indices are counted from 1 in Fortran')
  call tenon_layout_create_from_boxes(MPI_COMM_WORLD, [1, 2], [4, 3], refused, ierr=ierr)
  call expect(TENON_ERR_LAYOUT, 'begin at 1 in dimension 0')
  call tenon_get_last_error_report(text)
  if (index(text, 'are those of C: counted from 0, x is the last') == 0) error stop 'the order is not said: '//text

  call tenon_place(x, u(1:4, 1:2), array=u, ierr=ierr)
  call tenon_get_last_error_report(text)
  if (index(text, 'those of C') > 0) error stop 'the order is not that of C: '//text
  call expect(TENON_ERR_SHAPE, 'dimension 2: the array has 2 elements, but this rank''s block has 3')
  call tenon_place(x, u(0:4, 1:3), ierr=ierr)
  call expect(TENON_ERR_SHAPE, 'dimension 1: the array has 5 elements, but this rank''s block has 4')
  call tenon_place(x, single, ierr=ierr)
  call expect(TENON_ERR_DATATYPE, 'the array is real(real32), but the tensor is real(real64)')
  call tenon_place(x, u(1:4, 1), ierr=ierr)
  call expect(TENON_ERR_SHAPE, '1 dimensions, but this rank''s block has 3 elements in dimension 2')
  call tenon_place(x, cube, ierr=ierr)
  call expect(TENON_ERR_SHAPE, 'the array has 3 dimensions, but the tensor has 2')
  call tenon_place(x, other(1:4, 1:3), array=u, ierr=ierr)
  call expect(TENON_ERR_ARG, 'no section of `array`')
  call tenon_place(x, other(1:4, 1:5:2), array=other, ierr=ierr)
  call expect(TENON_ERR_ARG, 'no section of `array`')
  call tenon_place(x, cube(:, :, 2), array=cube, ierr=ierr)
  call expect(TENON_ERR_SHAPE, 'array has 3 dimensions, but its interior has 2')
  call tenon_place(x, u(1:4, 1:3), array=u, order=[2, 1], ierr=ierr)
  call expect(TENON_ERR_SHAPE, 'dimension 1: the array has 3 elements, but this rank''s block has 4')
  call tenon_place(x, u(1:4, 1:3), array=u, order=[1, 1], ierr=ierr)
  call expect(TENON_ERR_ARG, 'order(2) is 1')
  call tenon_get_array(x, line, ierr)
  call expect(TENON_ERR_SHAPE, 'the pointer has 1 dimensions')
  if (associated(line)) error stop 'a pointer of the wrong rank is associated'

  ! The tensor is still u, and the pointer to it has the bounds of its box.
  call tenon_get_array(x, p)
  p(4, 3) = 3
  call tenon_restore_array(x, p)
  if (nint(u(4, 3)) /= 3) error stop 'the tensor is not the array any more'
  call tenon_dtensor_norm(x, norm)
  if (abs(norm - sqrt(11 + 9.0_real64)) > 1e-14_real64) error stop 'the norm is not that of the block'

  ! The channel first in memory; a slice; a pointer with a dimension more.
  channels = 2
  call tenon_place(x, channels(2, :, :), array=channels(2, :, :))
  call tenon_get_array(x, everything)
  if (any(shape(everything) /= [4, 3, 1])) error stop 'the pointer has other extents'
  everything = 7
  call tenon_restore_array(x, everything)
  if (any(nint(channels(2, :, :)) /= 7) .or. any(nint(channels(1, :, :)) /= 2)) error stop 'another channel was written'
  call transposed()

  call tenon_pop_error_handler()
  call tenon_destroy(x)
  call tenon_destroy(layout)
  call tenon_finalize()
  call MPI_Finalize()
contains
  subroutine expect(code, text)
    integer, intent(in) :: code
    character(len=*), intent(in) :: text
    character(len=:), allocatable :: message
    call tenon_get_last_error(message)
    if (ierr /= code .or. index(message, text) == 0) then
      print *, 'expected ', tenon_error_name(code), ': ', text
      print *, 'got      ', tenon_error_name(ierr), ': ', message
      error stop
    end if
  end subroutine expect

  ! Ghost cells are found in each dimension of the array, whichever of the tensor's it is.
  subroutine transposed()
    type(tenon_layout) :: wide
    type(tenon_dtensor) :: y
    real(real64), target :: v(0:3, -1:6)
    call tenon_layout_create_like(layout, wide)
    call tenon_layout_set_halo(wide, 1, 2, 2, TENON_BOUNDARY_ZERO, TENON_BOUNDARY_ZERO)
    call tenon_layout_set_halo(wide, 2, 1, 0, TENON_BOUNDARY_ZERO, TENON_BOUNDARY_ZERO)
    call tenon_layout_set_up(wide)
    call tenon_dtensor_create(wide, TENON_FLOAT64, y)
    call tenon_place(y, v(1:3, 1:4), array=v, order=[2, 1])
    call tenon_place(y, v(1:3, 0:3), array=v, order=[2, 1], ierr=ierr)
    call expect(TENON_ERR_SHAPE, 'the layout needs 2 + 2 halo elements (low + high) in dimension 1, but the array has 1 + 3 ghost')
    call tenon_destroy(y)
    call tenon_destroy(wide)
  end subroutine transposed
end program arrays_refused
